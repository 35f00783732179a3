import type { Knex } from 'knex';
import { type AuditEntry, recordAudit } from '../audit.ts';
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
  memberships: { account_id: number; role: MemberRole }[];
  created_at: Date;
  last_signed_in_at: Date | null;
}

/** Users by e-mail address that match all given filters; `after` is the last address of the previous page. */
export async function listUsers(
  db: Knex,
  filter: {
    accountId?: number | undefined;
    email?: string;
    userId?: string;
    role?: Role;
    after?: string | undefined;
    limit?: number;
  } = {},
): Promise<User[]> {
  const query = db('users as u')
    .select('u.id as user_id', 'u.email', 'u.name', 'u.role', 'u.created_at', 'u.last_signed_in_at')
    .select(
      db.raw(
        `array(select jsonb_build_object('account_id', m.account_id, 'role', m.role)
               from memberships m where m.user_id = u.id order by m.account_id) as memberships`,
      ),
    )
    .orderBy('u.email');
  if (filter.accountId !== undefined)
    query.whereIn('u.id', db('memberships').where({ account_id: filter.accountId }).select('user_id'));
  if (filter.email !== undefined) query.where('u.email', filter.email.toLowerCase());
  if (filter.userId !== undefined) query.where('u.id', filter.userId);
  if (filter.role !== undefined) query.where('u.role', filter.role);
  if (filter.after !== undefined) query.where('u.email', '>', filter.after);
  if (filter.limit !== undefined) query.limit(filter.limit);
  return query as unknown as Promise<User[]>;
}

/** The user of this e-mail address, or null. */
export async function findUser(db: Knex, email: string): Promise<User | null> {
  return (await listUsers(db, { email }))[0] ?? null;
}

/** Stores the time at which a user signed in. */
export async function noteSignIn(db: Knex, email: string): Promise<void> {
  await db('users').where({ email: email.toLowerCase() }).update({ last_signed_in_at: db.fn.now() });
}

/**
 * Removes a user with all sessions and open invitations, of the user and made by them, with audit. Invitations of an address that nobody has
 * accepted are withdrawn.
 *
 * @returns the removed user; `withdrawn` when there is none, but there were pending invitations; otherwise null.
 */
export async function removeUser(db: Knex, email: string, actor: string): Promise<User | 'withdrawn' | null> {
  return db.transaction(async (trx) => {
    // Invitations are locked before the user, as when one is accepted: another order could deadlock.
    const address = email.toLowerCase();
    const open = trx('invitations')
      .whereNull('accepted_at')
      .where((either) => either.where({ email: address }).orWhere({ invited_by: address }));
    await open.clone().forUpdate().select('invitation_id');
    await trx('users').where({ email: address }).forUpdate().select('id');
    const user = await findUser(trx, email);
    const withdrawn = user ? [] : await withdrawInvitations(trx, { email: address }, actor);
    await open.delete();
    if (!user) return withdrawn.length > 0 ? 'withdrawn' : null;
    await trx('users').where({ id: user.user_id }).delete();
    const accountIds = user.memberships.length > 0 ? user.memberships.map(({ account_id }) => account_id) : [null];
    const entry = { actor, action: 'user_removed', subject: `user:${user.email}` };
    await recordAudit(trx, ...accountIds.map((accountId) => ({ ...entry, accountId })));
    return user;
  });
}

/** Records an audit entry about a user in each of their accounts, for the owners of those accounts. */
export async function recordOfUser(
  trx: Knex,
  email: string,
  entry: Pick<AuditEntry, 'actor' | 'action' | 'details'>,
): Promise<void> {
  const accountIds = await listAccountIds(trx, email);
  await recordAudit(trx, ...accountIds.map((accountId) => ({ ...entry, subject: `user:${email}`, accountId })));
}

/**
 * Notes that a user has shown that the e-mail address is theirs. Somebody else may have opened the link by which an owner of an account
 * invited them. So the first time, all ways to sign in that were set up before are removed, with all sessions and with audit. Must be called
 * in a transaction.
 */
export async function proveAddress(trx: Knex, userId: string): Promise<void> {
  const [user] = await trx('users')
    .where({ id: userId, email_verified: false })
    .update({ email_verified: true, two_factor_enabled: false })
    .returning('email');
  if (!user) return;
  await trx('user_credentials').where({ user_id: userId }).delete();
  await trx('user_passkeys').where({ user_id: userId }).delete();
  await trx('user_second_factors').where({ user_id: userId }).delete();
  await trx('user_verifications').where({ value: userId }).delete();
  await endSessions(trx, userId);
  await recordOfUser(trx, user.email, { actor: user.email, action: 'earlier_credentials_removed' });
}
