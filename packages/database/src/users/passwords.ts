import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { endSessions } from './sessions.ts';

/** The hash of a user's password in the authentication library's format, or null. */
export async function findPasswordHash(db: Knex, userId: string): Promise<string | null> {
  const [row] = await db('user_credentials').where({ user_id: userId, provider_id: 'credential' }).select('password');
  return row?.password ?? null;
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
  db: Knex,
  user: { userId: string } | { email: string },
): Promise<Credential | null> {
  const query = db('user_credentials as c')
    .where({ 'c.provider_id': 'credential' })
    .whereNotNull('c.password')
    .first('c.user_id as userId', 'c.id as credentialId', 'c.password as passwordHash');
  if ('userId' in user) query.where({ 'c.user_id': user.userId });
  else query.join('users as u', 'u.id', 'c.user_id').where({ 'u.email': user.email.toLowerCase() });
  return (await query) ?? null;
}

/**
 * Stores a stronger hash of the same password; sessions stay.
 *
 * @returns false, and changes nothing, if the password was changed meanwhile.
 */
export async function replacePasswordHash(db: Knex, credential: Credential, passwordHash: string): Promise<boolean> {
  const { credentialId, passwordHash: before } = credential;
  const changed = await db('user_credentials')
    .where({ id: credentialId, password: before })
    .update({ password: passwordHash, updated_at: db.fn.now() });
  return changed > 0;
}

/**
 * Sets a user's password, and ends all their sessions, challenges and links for a new password; bindings to identity providers stay. Must be called in a
 * transaction.
 */
export async function setPassword(trx: Knex, userId: string, passwordHash: string): Promise<void> {
  await endSessions(trx, userId);
  await trx('password_resets').where({ user_id: userId }).delete();
  await trx('user_credentials').where({ user_id: userId, provider_id: 'credential' }).delete();
  await trx('user_credentials').insert({
    id: randomUUID(),
    user_id: userId,
    provider_id: 'credential',
    provider_account_id: userId,
    password: passwordHash,
  });
}
