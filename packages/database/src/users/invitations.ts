import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { setPassword } from './passwords.ts';
import type { Role } from './users.ts';

/** `accountId` is null for an operator. */
export interface Invitation {
  email: string;
  role: Role;
  accountId: number | null;
}

const TOKEN_BYTES = 32;

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * Creates an invitation, also for a user to set a new password; earlier open invitations of the address are deleted.
 *
 * @param validForMs validity of the link in milliseconds.
 * @returns the token of the one-time link, which is not stored.
 */
export async function createInvitation(
  db: Knex,
  { email, role, accountId }: Invitation,
  invitedBy: string,
  validForMs: number,
): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await db.transaction(async (trx) => {
    await trx('invitations').where({ email: email.toLowerCase() }).whereNull('accepted_at').delete();
    await trx('invitations').insert({
      token_hash: hashToken(token),
      email: email.toLowerCase(),
      role,
      account_id: accountId,
      invited_by: invitedBy,
      expires_at: trx.raw("now() + ? * interval '1 ms'", [validForMs]),
    });
  });
  return token;
}

/** The invitation of a token, with the name of the user if there is one; null when the token is unknown, used or expired. */
export async function findInvitation(db: Knex, token: string): Promise<(Invitation & { name: string | null }) | null> {
  const [row] = await openInvitation(db, token)
    .select('email', 'role', 'account_id as accountId')
    .select(db.raw('(select u.name from users u where u.email = invitations.email)'));
  return row ?? null;
}

/**
 * Uses an invitation once: creates its user, or sets the existing user's password and ends their sessions. Other links for the address stop
 * working.
 *
 * @param passwordHash in the authentication library's format.
 * @returns the invitation, and whether its user was no operator before and is one now; null when the token is unknown, used or expired.
 */
export async function acceptInvitation(
  db: Knex,
  token: string,
  name: string,
  passwordHash: string,
): Promise<(Invitation & { isNewOperator: boolean }) | null> {
  return db.transaction(async (trx) => {
    const [invitation] = await openInvitation(trx, token)
      .update({ accepted_at: trx.fn.now() })
      .returning(['email', 'role', 'account_id as accountId']);
    if (!invitation) return null;
    const { email, role, accountId } = invitation as Invitation;
    const before = await trx('users').where({ email }).forUpdate().first('role');
    const [{ id }] = await trx('users')
      .insert({ id: randomUUID(), email, email_verified: true, name, role, account_id: accountId })
      .onConflict('email')
      .merge(['name', 'role', 'account_id'])
      .returning('id');
    await setPassword(trx, id, passwordHash);
    await trx('invitations').where({ email }).whereNull('accepted_at').delete();
    return { email, role, accountId, isNewOperator: role === 'operator' && before?.role !== 'operator' };
  });
}

function openInvitation(db: Knex, token: string): Knex.QueryBuilder {
  return db('invitations')
    .where({ token_hash: hashToken(token) })
    .whereNull('accepted_at')
    .where('expires_at', '>', db.fn.now());
}
