import { randomUUID } from 'node:crypto';
import { type Connection, execute, inTransaction, run } from '../run.ts';
import { endSessions } from './sessions.ts';
import { findUser, listUsers, proveAddress, recordOfUser, type User } from './users.ts';

/** An account at an identity provider. */
export interface Identity {
  /** The URL of the provider, as in its tokens. */
  issuer: string;
  /** The provider's own id of the account (`sub`); it never changes. */
  subject: string;
  /** As the provider states it now, in lower case. */
  email: string;
}

/**
 * The user of an identity. At the first sign-in this is the user of the e-mail address, to whom the identity is bound; later it is the bound
 * user, whatever the address. A new binding proves the address, and is recorded in the audit trail. Must be called in a transaction.
 *
 * @returns `unknown` if no user has the address, `bound_otherwise` if that user is bound to another account of this provider.
 */
export async function resolveIdentity(
  connection: Connection,
  { issuer, subject, email }: Identity,
): Promise<User | 'unknown' | 'bound_otherwise'> {
  const [bound] = await run<{ user_id: string }>(
    connection,
    'select user_id from user_credentials where provider_id = $1 and provider_account_id = $2',
    [issuer, subject],
  );
  if (bound) return requireUser(connection, bound.user_id);
  // The lock lets concurrent first sign-ins of the user bind one after the other.
  const lock = 'select id from users where email = $1 for update';
  const [user] = await run<{ id: string }>(connection, lock, [email]);
  if (!user) return 'unknown';
  const [other] = await run<{ provider_account_id: string }>(
    connection,
    'select provider_account_id from user_credentials where user_id = $1 and provider_id = $2',
    [user.id, issuer],
  );
  if (other && other.provider_account_id !== subject) return 'bound_otherwise';
  const found = await requireUser(connection, user.id);
  if (other) return found;
  await proveAddress(connection, user.id);
  await execute(
    connection,
    'insert into user_credentials (id, user_id, provider_id, provider_account_id) values ($1, $2, $3, $4)',
    [randomUUID(), user.id, issuer, subject],
  );
  await recordOfUser(connection, email, { actor: email, action: 'identity_bound', details: { issuer } });
  return found;
}

async function requireUser(connection: Connection, userId: string): Promise<User> {
  const [user] = await listUsers(connection, { userId });
  if (!user) throw new Error('the user was removed in the meantime');
  return user;
}

/** Deletes the user's bindings: the next sign-in binds again by e-mail address. Must be called in a transaction. @returns their number. */
export async function deleteBindings(connection: Connection, userId: string): Promise<number> {
  return execute(connection, "delete from user_credentials where user_id = $1 and provider_id <> 'credential'", [
    userId,
  ]);
}

/**
 * Unbinds a user from the accounts at identity providers and ends their sessions, with audit.
 *
 * @returns the user and whether there was a binding; null when there is no such user.
 */
export async function unbindUser(
  connection: Connection,
  email: string,
  actor: string,
): Promise<{ user: User; wasBound: boolean } | null> {
  return inTransaction(connection, async (transaction) => {
    const user = await findUser(transaction, email);
    if (!user) return null;
    if ((await deleteBindings(transaction, user.user_id)) === 0) return { user, wasBound: false };
    await endSessions(transaction, user.user_id);
    await recordOfUser(transaction, user.email, { actor, action: 'identity_unbound' });
    return { user, wasBound: true };
  });
}
