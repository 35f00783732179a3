import { type AuditEntry, recordAudit } from '../audit.ts';
import { type Connection, execute, inTransaction, matching, run } from '../run.ts';
import { listAccountIds, type MemberRole } from './memberships.ts';
import { withdrawInvitations } from './pending-invitations.ts';
import { endSessions } from './sessions.ts';

/** An operator may use all accounts; an `account_holder` is a member of one or more. */
export type Role = 'operator' | 'account_holder';

/** A portal user. */
export interface User {
  user_id: string;
  email: string;
  name: string;
  role: Role;
  /** By account id; empty for an operator. */
  memberships: { account_id: number; account_name: string; role: MemberRole }[];
  created_at: Date;
  last_signed_in_at: Date | null;
}

/** Users by e-mail address that match all given filters; `after` is the last address of the previous page. */
export async function listUsers(
  connection: Connection,
  filter: {
    accountId?: number | undefined;
    email?: string;
    userId?: string;
    after?: string | undefined;
    limit?: number;
  } = {},
): Promise<User[]> {
  const { accountId, email, userId, after, limit } = filter;
  const values: unknown[] = [];
  const matches = matching(values, {
    'u.id in (select user_id from memberships where account_id = ?)': accountId,
    'u.email = ?': email?.toLowerCase(),
    'u.id = ?': userId,
    'u.email > ?': after,
  });
  return run<User>(
    connection,
    `select u.id as user_id, u.email, u.name, u.role, u.created_at, u.last_signed_in_at,
            array(select jsonb_build_object('account_id', account_id, 'account_name', a.name, 'role', m.role)
                  from memberships m join accounts a using (account_id)
                  where m.user_id = u.id order by account_id) as memberships
     from users u where ${matches} order by u.email limit ${limit ?? 'all'}`,
    values,
  );
}

/** The user of this e-mail address, or null. */
export async function findUser(connection: Connection, email: string): Promise<User | null> {
  return (await listUsers(connection, { email }))[0] ?? null;
}

/** Stores the time at which a user signed in. */
export async function noteSignIn(connection: Connection, email: string): Promise<void> {
  await execute(connection, 'update users set last_signed_in_at = now() where email = $1', [email.toLowerCase()]);
}

/**
 * Removes a user with all sessions and open invitations, of the user and made by them, with audit. Invitations of an address that nobody has
 * accepted are withdrawn.
 *
 * @returns the removed user; `withdrawn` when there is none, but there were pending invitations; otherwise null.
 */
export async function removeUser(
  connection: Connection,
  email: string,
  actor: string,
): Promise<User | 'withdrawn' | null> {
  const address = email.toLowerCase();
  const open = 'invitations where accepted_at is null and $1 in (email, invited_by)';
  return inTransaction(connection, async (transaction) => {
    // Invitations are locked before the user, as when one is accepted: another order could deadlock.
    await run(transaction, `select from ${open} for update`, [address]);
    await run(transaction, 'select from users where email = $1 for update', [address]);
    const user = await findUser(transaction, email);
    const withdrawn = user ? [] : await withdrawInvitations(transaction, { email: address }, actor);
    await execute(transaction, `delete from ${open}`, [address]);
    if (!user) return withdrawn.length > 0 ? 'withdrawn' : null;
    await execute(transaction, 'delete from users where id = $1', [user.user_id]);
    const accountIds = user.memberships.length > 0 ? user.memberships.map(({ account_id }) => account_id) : [null];
    const entry = { actor, action: 'user_removed', subject: `user:${user.email}` };
    await recordAudit(transaction, ...accountIds.map((accountId) => ({ ...entry, accountId })));
    return user;
  });
}

/** Records an audit entry about a user in each of their accounts, for the owners of those accounts. */
export async function recordOfUser(
  connection: Connection,
  email: string,
  entry: Pick<AuditEntry, 'actor' | 'action' | 'details'>,
): Promise<void> {
  const accountIds = await listAccountIds(connection, email);
  await recordAudit(connection, ...accountIds.map((accountId) => ({ ...entry, subject: `user:${email}`, accountId })));
}

/**
 * Notes that a user has shown that the e-mail address is theirs. Somebody else may have opened the link by which an owner of an account
 * invited them. So the first time, all ways to sign in that were set up before are removed, with all sessions and with audit. Must be called
 * in a transaction.
 */
export async function proveAddress(connection: Connection, userId: string): Promise<void> {
  const [user] = await run<{ email: string }>(
    connection,
    `update users set email_verified = true, two_factor_enabled = false where id = $1 and not email_verified
     returning email`,
    [userId],
  );
  if (!user) return;
  await execute(connection, 'delete from user_credentials where user_id = $1', [userId]);
  await execute(connection, 'delete from user_passkeys where user_id = $1', [userId]);
  await execute(connection, 'delete from user_second_factors where user_id = $1', [userId]);
  await execute(connection, 'delete from user_verifications where value = $1', [userId]);
  await endSessions(connection, userId);
  await recordOfUser(connection, user.email, { actor: user.email, action: 'earlier_credentials_removed' });
}
