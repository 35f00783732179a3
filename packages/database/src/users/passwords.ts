import { randomUUID } from 'node:crypto';
import { type Connection, execute, run } from '../run.ts';
import { endSessions } from './sessions.ts';

/** The hash of a user's password in the authentication library's format, or null. */
export async function findPasswordHash(connection: Connection, userId: string): Promise<string | null> {
  return (await findCredential(connection, { userId }))?.passwordHash ?? null;
}

/** A user's password. */
export interface Credential {
  userId: string;
  /** Each new password has another id. */
  credentialId: string;
  passwordHash: string;
}

/** The password of the user with this id or e-mail address, or null. */
export async function findCredential(
  connection: Connection,
  user: { userId: string } | { email: string },
): Promise<Credential | null> {
  const [credential] = await run<Credential>(
    connection,
    `select c.user_id as "userId", c.id as "credentialId", c.password as "passwordHash"
     from user_credentials c join users u on u.id = c.user_id
     where c.provider_id = 'credential' and c.password is not null and ${'userId' in user ? 'u.id' : 'u.email'} = $1`,
    ['userId' in user ? user.userId : user.email.toLowerCase()],
  );
  return credential ?? null;
}

/**
 * Stores a stronger hash of the same password; sessions stay.
 *
 * @returns false, and changes nothing, if the password was changed meanwhile.
 */
export async function replacePasswordHash(
  connection: Connection,
  { credentialId, passwordHash: before }: Credential,
  passwordHash: string,
): Promise<boolean> {
  const replace = 'update user_credentials set password = $3, updated_at = now() where id = $1 and password = $2';
  return (await execute(connection, replace, [credentialId, before, passwordHash])) > 0;
}

/**
 * Sets a user's password, and ends all their sessions, challenges and links for a new password; bindings to identity providers stay. Must be called in a
 * transaction.
 */
export async function setPassword(connection: Connection, userId: string, passwordHash: string): Promise<void> {
  await endSessions(connection, userId);
  await execute(connection, 'delete from password_resets where user_id = $1', [userId]);
  await execute(connection, "delete from user_credentials where user_id = $1 and provider_id = 'credential'", [userId]);
  await execute(
    connection,
    `insert into user_credentials (id, user_id, provider_id, provider_account_id, password)
     values ($1, $2, 'credential', $2, $3)`,
    [randomUUID(), userId, passwordHash],
  );
}
