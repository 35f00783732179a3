import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
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
  trx: Knex,
  { issuer, subject, email }: Identity,
): Promise<User | 'unknown' | 'bound_otherwise'> {
  const bound = await trx('user_credentials')
    .where({ provider_id: issuer, provider_account_id: subject })
    .first('user_id');
  if (bound) return requireUser(trx, bound.user_id);
  // The lock lets concurrent first sign-ins of the user bind one after the other.
  const user = await trx('users').where({ email }).forUpdate().first('id');
  if (!user) return 'unknown';
  const other = await trx('user_credentials')
    .where({ user_id: user.id, provider_id: issuer })
    .first('provider_account_id');
  if (other && other.provider_account_id !== subject) return 'bound_otherwise';
  const found = await requireUser(trx, user.id);
  if (other) return found;
  await proveAddress(trx, user.id);
  await trx('user_credentials').insert({
    id: randomUUID(),
    user_id: user.id,
    provider_id: issuer,
    provider_account_id: subject,
  });
  await recordOfUser(trx, email, { actor: email, action: 'identity_bound', details: { issuer } });
  return found;
}

async function requireUser(trx: Knex, userId: string): Promise<User> {
  const [user] = await listUsers(trx, { userId });
  if (!user) throw new Error('the user was removed in the meantime');
  return user;
}

/** Deletes the user's bindings: the next sign-in binds again by e-mail address. Must be called in a transaction. @returns their number. */
export async function deleteBindings(trx: Knex, userId: string): Promise<number> {
  return trx('user_credentials').where({ user_id: userId }).whereNot({ provider_id: 'credential' }).delete();
}

/**
 * Unbinds a user from the accounts at identity providers and ends their sessions, with audit.
 *
 * @returns the user and whether there was a binding; null when there is no such user.
 */
export async function unbindUser(
  db: Knex,
  email: string,
  actor: string,
): Promise<{ user: User; wasBound: boolean } | null> {
  return db.transaction(async (trx) => {
    const user = await findUser(trx, email);
    if (!user) return null;
    if ((await deleteBindings(trx, user.user_id)) === 0) return { user, wasBound: false };
    await endSessions(trx, user.user_id);
    await recordOfUser(trx, user.email, { actor, action: 'identity_unbound' });
    return { user, wasBound: true };
  });
}
