import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { INVITATION_LOCK } from '../run.ts';
import { deleteBindings } from './identities.ts';
import type { MemberRole } from './memberships.ts';
import { createToken, forgetRecentCodeAttempts, hashToken } from './one-time-codes.ts';
import { setPassword } from './passwords.ts';
import type { Role } from './users.ts';
import { proveAddress, recordOfUser } from './users.ts';

export interface Invitation {
  email: string;
  role: Role;
  /** Null for an operator. */
  accountId: number | null;
  /** The role in the account; null for an operator. */
  memberRole: MemberRole | null;
  /** Whether the link sets the password of somebody who is a user already. Otherwise they must sign in to accept it. */
  setsPassword: boolean;
}

/** By default the invitation of an owner, with a link that sets a password. */
export type NewInvitation = Omit<Invitation, 'memberRole' | 'setsPassword'> &
  Partial<Pick<Invitation, 'memberRole' | 'setsPassword'>>;

const COLUMNS = [
  'email',
  'role',
  'account_id as accountId',
  'member_role as memberRole',
  'sets_password as setsPassword',
] as const;

/**
 * Creates an invitation, also for a user to set a new password. Deletes earlier open invitations of the address: if the new one sets a
 * password, those that set one, otherwise those to the same account that set none.
 *
 * @param validForMs validity of the link in milliseconds.
 * @returns the token of the one-time link, which is not stored.
 */
export async function createInvitation(
  db: Knex,
  { email, role, accountId, memberRole, setsPassword = true }: NewInvitation,
  invitedBy: string,
  validForMs: number,
): Promise<string> {
  const token = createToken();
  const address = email.toLowerCase();
  await db.transaction(async (trx) => {
    const earlier = trx('invitations').where({ email: address, sets_password: setsPassword }).whereNull('accepted_at');
    await (setsPassword ? earlier : earlier.where({ account_id: accountId })).delete();
    await trx('invitations').insert({
      token_hash: hashToken(token),
      email: address,
      role,
      account_id: accountId,
      member_role: accountId === null ? null : (memberRole ?? 'owner'),
      sets_password: setsPassword,
      invited_by: invitedBy,
      expires_at: trx.raw("now() + ? * interval '1 ms'", [validForMs]),
    });
  });
  return token;
}

/** The invitation of a token, with the name of the user if there is one; null when the token is unknown, used or expired. */
export async function findInvitation(db: Knex, token: string): Promise<(Invitation & { name: string | null }) | null> {
  const [row] = await openInvitation(db, token)
    .select(COLUMNS)
    .select(db.raw('(select u.name from users u where u.email = invitations.email)'));
  return row ?? null;
}

/**
 * Uses an invitation once: creates its user, or sets the existing user's password, ends their sessions and the lock after wrong codes, and removes their bindings to
 * identity providers, and adds the membership. After a link that sets passwords, the others for the address that do so stop working.
 *
 * @param passwordHash in the authentication library's format.
 * @returns the invitation, and whether it made its user an operator; null when the token is unknown, used or expired; `sign_in` when it is
 * for a user, who must sign in to accept it; `other_kind` when it is for an operator and the address is a member's, or the reverse.
 */
export async function acceptInvitation(
  db: Knex,
  token: string,
  name: string,
  passwordHash: string,
): Promise<(Invitation & { isNewOperator: boolean }) | 'sign_in' | 'other_kind' | null> {
  return db.transaction(async (trx) => {
    const invitation = await lockInvitation(trx, token);
    if (!invitation) return null;
    const { email, role, setsPassword } = invitation;
    // Two invitations of an address can be accepted at once, and a user who does not exist yet cannot be locked.
    await trx.raw('select pg_advisory_xact_lock(?, hashtext(?))', [INVITATION_LOCK, email]);
    const before = await trx('users').where({ email }).forUpdate().first('id', 'role');
    if (before && !setsPassword) return 'sign_in';
    if (before && before.role !== role) return 'other_kind';
    await markAccepted(trx, token);
    const user = { id: before?.id ?? randomUUID(), name };
    if (before) await trx('users').where({ id: user.id }).update(user);
    // The owner who makes a link can also open it, so only an operator's link, which sets a password, proves the address.
    else await trx('users').insert({ ...user, email, email_verified: setsPassword, role });
    await addMembership(trx, user.id, invitation);
    if (setsPassword) await proveAddress(trx, user.id);
    if ((await deleteBindings(trx, user.id)) > 0)
      await recordOfUser(trx, email, { actor: email, action: 'identity_unbound' });
    await setPassword(trx, user.id, passwordHash);
    await forgetRecentCodeAttempts(trx, user.id);
    // By an operator's link the person can still prove the address after somebody else has opened an owner's link.
    if (setsPassword) await trx('invitations').where({ email, sets_password: true }).whereNull('accepted_at').delete();
    return { ...invitation, isNewOperator: role === 'operator' && !before };
  });
}

/**
 * Uses an invitation to an account once, for a user who is signed in. A member keeps the role.
 *
 * @returns the invitation; null when the token is unknown, used, expired, or of an operator; `other_user` when it is for another address;
 * `operator` when the user is an operator, who cannot be a member.
 */
export async function joinAccount(
  db: Knex,
  token: string,
  userId: string,
): Promise<Invitation | 'other_user' | 'operator' | null> {
  return db.transaction(async (trx) => {
    const invitation = await lockInvitation(trx, token);
    if (!invitation || invitation.accountId === null) return null;
    const user = await trx('users').where({ id: userId }).forUpdate().first('email', 'role');
    if (user?.email !== invitation.email) return 'other_user';
    if (user.role === 'operator') return 'operator';
    await markAccepted(trx, token);
    await addMembership(trx, userId, invitation);
    return invitation;
  });
}

/** Somebody who is a member already keeps the role. */
async function addMembership(trx: Knex, userId: string, { accountId, memberRole }: Invitation): Promise<void> {
  if (accountId === null) return;
  await trx('memberships')
    .insert({ user_id: userId, account_id: accountId, role: memberRole })
    .onConflict(['user_id', 'account_id'])
    .ignore();
}

async function lockInvitation(trx: Knex, token: string): Promise<Invitation | null> {
  const [row] = await openInvitation(trx, token).forUpdate().select(COLUMNS);
  return row ?? null;
}

async function markAccepted(trx: Knex, token: string): Promise<void> {
  await openInvitation(trx, token).update({ accepted_at: trx.fn.now() });
}

function openInvitation(db: Knex, token: string): Knex.QueryBuilder {
  return db('invitations')
    .where({ token_hash: hashToken(token) })
    .whereNull('accepted_at')
    .where('expires_at', '>', db.fn.now());
}
