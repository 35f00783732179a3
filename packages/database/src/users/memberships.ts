import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';

/** What a member may do in an account, from least to most. */
export const MEMBER_ROLES = ['viewer', 'reviewer', 'developer', 'owner'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** What access to an account depends on. */
export interface AccountState {
  accountId: number;
  name: string;
  isSuspended: boolean;
  /** Whether its members need a second factor. */
  isSecondFactorRequired: boolean;
}

/** An account of a user. */
export interface Membership extends AccountState {
  role: MemberRole;
}

/** A user of an account, with the role in it. */
export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: MemberRole;
  /** Since when the user belongs to the account. */
  created_at: Date;
  last_signed_in_at: Date | null;
}

const ACCOUNT_STATE =
  'a.account_id as "accountId", a.name, a.suspended_at is not null as "isSuspended", a.second_factor_required as "isSecondFactorRequired"';

/** The accounts of a user, by id; empty for an operator. */
export async function listMemberships(db: Knex, userId: string): Promise<Membership[]> {
  return db('memberships as m')
    .join('accounts as a', 'a.account_id', 'm.account_id')
    .where('m.user_id', userId)
    .orderBy('a.account_id')
    .select(db.raw(ACCOUNT_STATE), 'm.role');
}

/** The account of this id, or null. */
export async function findAccountState(db: Knex, accountId: number): Promise<AccountState | null> {
  const [account] = await db('accounts as a').where('a.account_id', accountId).select(db.raw(ACCOUNT_STATE));
  return account ?? null;
}

/** The ids of a user's accounts, for an audit entry in each; `[null]` for an operator and for an address of nobody. */
export async function listAccountIds(db: Knex, email: string): Promise<(number | null)[]> {
  const rows: { account_id: number }[] = await db('memberships as m')
    .join('users as u', 'u.id', 'm.user_id')
    .where('u.email', email.toLowerCase())
    .orderBy('m.account_id')
    .select('m.account_id');
  return rows.length > 0 ? rows.map(({ account_id }) => account_id) : [null];
}

/** The members of an account by e-mail address; `after` is the last address of the previous page. */
export async function listMembers(
  db: Knex,
  accountId: number,
  { after, userId, limit }: { after?: string | undefined; userId?: string; limit?: number } = {},
): Promise<Member[]> {
  const query = db('memberships as m')
    .join('users as u', 'u.id', 'm.user_id')
    .where('m.account_id', accountId)
    .orderBy('u.email')
    .select('u.id as user_id', 'u.email', 'u.name', 'm.role', 'm.created_at', 'u.last_signed_in_at');
  if (after !== undefined) query.where('u.email', '>', after);
  if (userId !== undefined) query.where('u.id', userId);
  if (limit !== undefined) query.limit(limit);
  return query as unknown as Promise<Member[]>;
}

/** Why a member was not changed: there is no such member, or the account would be left without an owner. */
export type MemberRefusal = 'not_member' | 'last_owner';

interface MemberChange {
  accountId: number;
  userId: string;
  actor: string;
  /** Whether to refuse what would leave the account without an owner. */
  keepsOwner: boolean;
}

/** Gives a member another role, with audit. The open links that a former owner made for the account stop working. */
export async function changeMemberRole(
  db: Knex,
  { role, ...change }: MemberChange & { role: MemberRole },
): Promise<Member | MemberRefusal> {
  return db.transaction(async (trx) => {
    const before = await lockMember(trx, change, role);
    if (typeof before === 'string' || before.role === role) return before;
    const { accountId, userId, actor } = change;
    if (before.role === 'owner') await openInvitations(trx, change, ['invited_by']).delete();
    await trx('memberships').where({ account_id: accountId, user_id: userId }).update({ role });
    const details = { from: before.role, to: role };
    await recordAudit(trx, { accountId, actor, action: 'user_role_changed', subject: `user:${before.email}`, details });
    return { ...before, role };
  });
}

/**
 * Removes a member from an account, with audit. Open links for them, or made by them, for the account stop working. A user without another
 * account is removed, with all sessions.
 */
export async function removeMember(db: Knex, change: MemberChange): Promise<Member | MemberRefusal> {
  return db.transaction(async (trx) => {
    const member = await lockMember(trx, change, null);
    if (typeof member === 'string') return member;
    const { accountId, userId, actor } = change;
    await openInvitations(trx, change, ['email', 'invited_by']).delete();
    await trx('memberships').where({ account_id: accountId, user_id: userId }).delete();
    const other = await trx('memberships').where({ user_id: userId }).first('account_id');
    if (!other) await trx('users').where({ id: userId }).delete();
    const details = { role: member.role };
    await recordAudit(trx, { accountId, actor, action: 'user_removed', subject: `user:${member.email}`, details });
    return member;
  });
}

/** Locks the account and the user, so that no concurrent change removes the last owner, or the last account of a user. */
async function lockMember(
  trx: Knex,
  { accountId, userId, keepsOwner }: MemberChange,
  next: MemberRole | null,
): Promise<Member | MemberRefusal> {
  await trx('accounts').where({ account_id: accountId }).forNoKeyUpdate().select('account_id');
  // Invitations are locked before the user, as when one is accepted: another order could deadlock.
  await openInvitations(trx, { accountId, userId }, ['email', 'invited_by']).forUpdate().select('invitation_id');
  await trx('users').where({ id: userId }).forUpdate().select('id');
  const [member] = await listMembers(trx, accountId, { userId });
  if (!member) return 'not_member';
  if (!keepsOwner || member.role !== 'owner' || next === 'owner') return member;
  const others = await trx('memberships')
    .where({ account_id: accountId, role: 'owner' })
    .whereNot({ user_id: userId })
    .first('user_id');
  return others ? member : 'last_owner';
}

/** Open invitations to the account, for the user (`email`) or made by them (`invited_by`). */
function openInvitations(
  trx: Knex,
  { accountId, userId }: { accountId: number; userId: string },
  columns: ('email' | 'invited_by')[],
): Knex.QueryBuilder {
  const address = trx('users').where({ id: userId }).select('email');
  return trx('invitations')
    .where({ account_id: accountId })
    .whereNull('accepted_at')
    .where((any) => {
      for (const column of columns) any.orWhereIn(column, address.clone());
    });
}
