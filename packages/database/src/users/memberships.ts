import { recordAudit } from '../audit.ts';
import { type Connection, execute, inTransaction, matching, run } from '../run.ts';

/** What a member may do in an account, from least to most. */
export const MEMBER_ROLES = ['viewer', 'reviewer', 'developer', 'owner'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** What access to an account depends on. */
export interface AccountState {
  accountId: number;
  name: string;
  isSuspended: boolean;
  /** Whether it is being moved to another installation, or was; it is suspended then. */
  move: 'under_way' | 'done' | null;
  /** Whether its members need a second factor. */
  isSecondFactorRequired: boolean;
  /** The account whose tests it takes, which has its members; null for all others. */
  testOf: number | null;
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

const ACCOUNT_STATE = `
  a.account_id as "accountId", a.name, a.suspended_at is not null as "isSuspended",
  case when a.moved_to is not null then 'done' when a.moving_since is not null then 'under_way' end as move,
  a.second_factor_required as "isSecondFactorRequired", a.test_of as "testOf"`;

/** The accounts of a user, by id, and behind them their test accounts; empty for an operator. */
export async function listMemberships(connection: Connection, userId: string): Promise<Membership[]> {
  return run<Membership>(
    connection,
    `select ${ACCOUNT_STATE}, m.role from memberships m join accounts a on m.account_id in (a.account_id, a.test_of)
     where m.user_id = $1 and (a.test_of is null or a.test_of = m.account_id)
     order by a.test_of is not null, a.account_id`,
    [userId],
  );
}

/** The account of this id, or null. */
export async function findAccountState(connection: Connection, accountId: number): Promise<AccountState | null> {
  const find = `select ${ACCOUNT_STATE} from accounts a where a.account_id = $1`;
  const [account] = await run<AccountState>(connection, find, [accountId]);
  return account ?? null;
}

/** The ids of a user's accounts, for an audit entry in each; `[null]` for an operator and for an address of nobody. */
export async function listAccountIds(connection: Connection, email: string): Promise<(number | null)[]> {
  const rows = await run<{ account_id: number }>(
    connection,
    `select m.account_id from memberships m join users u on u.id = m.user_id
     where u.email = $1 order by m.account_id`,
    [email.toLowerCase()],
  );
  return rows.length > 0 ? rows.map(({ account_id }) => account_id) : [null];
}

/** The members of an account by e-mail address; `after` is the last address of the previous page. */
export async function listMembers(
  connection: Connection,
  accountId: number,
  { after, userId, limit }: { after?: string | undefined; userId?: string; limit?: number } = {},
): Promise<Member[]> {
  const values: unknown[] = [];
  const filter = matching(values, { 'm.account_id = ?': accountId, 'u.email > ?': after, 'u.id = ?': userId });
  return run<Member>(
    connection,
    `select u.id as user_id, u.email, u.name, m.role, m.created_at, u.last_signed_in_at
     from memberships m join users u on u.id = m.user_id
     where ${filter} order by u.email limit ${limit ?? 'all'}`,
    values,
  );
}

/** Why a member was not changed: there is no such member, or the account would be left without an owner. */
export type MemberRejection = 'not_member' | 'last_owner';

interface MemberChange {
  accountId: number;
  userId: string;
  actor: string;
  /** Whether to reject what would leave the account without an owner. */
  keepsOwner: boolean;
}

/** Gives a member another role, with audit. The open links that a former owner made for the account stop working. */
export async function changeMemberRole(
  connection: Connection,
  { role, ...change }: MemberChange & { role: MemberRole },
): Promise<Member | MemberRejection> {
  return inTransaction(connection, async (transaction) => {
    const before = await lockMember(transaction, change, role);
    if (typeof before === 'string' || before.role === role) return before;
    const { accountId, userId, actor } = change;
    if (before.role === 'owner')
      await execute(transaction, `delete from ${OPEN_INVITATIONS} and invited_by = ${ADDRESS}`, [accountId, userId]);
    await execute(transaction, 'update memberships set role = $3 where account_id = $1 and user_id = $2', [
      accountId,
      userId,
      role,
    ]);
    const [subject, details] = [`user:${before.email}`, { from: before.role, to: role }];
    await recordAudit(transaction, { accountId, actor, action: 'user_role_changed', subject, details });
    return { ...before, role };
  });
}

/**
 * Removes a member from an account, with audit. Open links for them, or made by them, for the account stop working. A user without another
 * account is removed, with all sessions.
 */
export async function removeMember(connection: Connection, change: MemberChange): Promise<Member | MemberRejection> {
  return inTransaction(connection, async (transaction) => {
    const member = await lockMember(transaction, change, null);
    if (typeof member === 'string') return member;
    const { accountId, userId, actor } = change;
    await execute(transaction, `delete from ${FOR_OR_BY_USER}`, [accountId, userId]);
    await execute(transaction, 'delete from memberships where account_id = $1 and user_id = $2', [accountId, userId]);
    await execute(
      transaction,
      'delete from users where id = $1 and not exists (select from memberships where user_id = $1)',
      [userId],
    );
    const [subject, details] = [`user:${member.email}`, { role: member.role }];
    await recordAudit(transaction, { accountId, actor, action: 'user_removed', subject, details });
    return member;
  });
}

/** SQL: open invitations to account $1, and the address of user $2. */
const OPEN_INVITATIONS = 'invitations where account_id = $1 and accepted_at is null';
const ADDRESS = '(select email from users where id = $2)';
const FOR_OR_BY_USER = `${OPEN_INVITATIONS} and ${ADDRESS} in (email, invited_by)`;

/** Locks the account and the user, so that no concurrent change removes the last owner, or the last account of a user. */
async function lockMember(
  connection: Connection,
  { accountId, userId, keepsOwner }: MemberChange,
  next: MemberRole | null,
): Promise<Member | MemberRejection> {
  await run(connection, 'select from accounts where account_id = $1 for no key update', [accountId]);
  // Invitations are locked before the user, as when one is accepted: another order could deadlock.
  await run(connection, `select from ${FOR_OR_BY_USER} for update`, [accountId, userId]);
  await run(connection, 'select from users where id = $1 for update', [userId]);
  const [member] = await listMembers(connection, accountId, { userId });
  if (!member) return 'not_member';
  if (!keepsOwner || member.role !== 'owner' || next === 'owner') return member;
  const [otherOwner] = await run(
    connection,
    "select from memberships where account_id = $1 and role = 'owner' and user_id <> $2 limit 1",
    [accountId, userId],
  );
  return otherOwner ? member : 'last_owner';
}
