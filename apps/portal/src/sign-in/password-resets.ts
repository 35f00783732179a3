import type { Knex } from 'knex';
import { forgetRecentCodeAttempts } from '@orders/database/users/code-attempts.ts';
import { createToken, hashToken } from '@orders/database/users/one-time-tokens.ts';
import { setPassword } from '@orders/database/users/passwords.ts';
import { proveAddress } from '@orders/database/users/prove-address.ts';

/** The user of a one-time link for a new password. */
interface ResettingUser {
  userId: string;
  email: string;
  name: string;
}

/**
 * Creates a one-time link by which a user sets a new password; an earlier link of the user no longer works.
 *
 * @param validForMs validity of the link in milliseconds.
 * @returns the token of the link, which is not stored.
 */
export async function createPasswordReset(db: Knex, userId: string, validForMs: number): Promise<string> {
  const token = createToken();
  const expiresAt = db.raw("now() + ? * interval '1 ms'", [validForMs]);
  await db('password_resets')
    .insert({ user_id: userId, token_hash: hashToken(token), expires_at: expiresAt })
    .onConflict('user_id')
    .merge();
  return token;
}

/** The user of a link; null when its token is unknown, used, replaced or expired. */
export async function findPasswordReset(db: Knex, token: string): Promise<ResettingUser | null> {
  const [user] = await db('users as u')
    .join('password_resets as r', 'r.user_id', 'u.id')
    .where({ token_hash: hashToken(token) })
    .where('r.expires_at', '>', db.fn.now())
    .select('u.id as userId', 'u.email', 'u.name');
  return user ?? null;
}

/**
 * Uses a link once: sets the password of its user, ends all their sessions and the lock after wrong codes; the address is proved. Must be called in a transaction.
 *
 * @param passwordHash in the authentication library's format.
 * @returns the user; null when the token is unknown, used, replaced or expired.
 */
export async function usePasswordReset(trx: Knex, token: string, passwordHash: string): Promise<ResettingUser | null> {
  const found = await findPasswordReset(trx, token);
  if (!found) return null;
  // The user is locked before the link, as when a user is removed: another order could deadlock.
  await trx('users').where({ id: found.userId }).forUpdate().select('id');
  const used = await trx('password_resets')
    .where({ token_hash: hashToken(token) })
    .delete();
  if (used === 0) return null;
  // The link was mailed.
  await proveAddress(trx, found.userId);
  await setPassword(trx, found.userId, passwordHash);
  await forgetRecentCodeAttempts(trx, found.userId);
  return found;
}
