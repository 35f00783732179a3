import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';

export type Role = 'operator' | 'account_holder';

/** A portal user; operators have no account. */
export interface User {
  user_id: string;
  email: string;
  name: string;
  role: Role;
  account_id: number | null;
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
    after?: string | undefined;
    limit?: number;
  } = {},
): Promise<User[]> {
  const query = db('users')
    .select('id as user_id', 'email', 'name', 'role', 'account_id', 'created_at', 'last_signed_in_at')
    .orderBy('email');
  if (filter.accountId !== undefined) query.where({ account_id: filter.accountId });
  if (filter.email !== undefined) query.where({ email: filter.email.toLowerCase() });
  if (filter.userId !== undefined) query.where({ id: filter.userId });
  if (filter.after !== undefined) query.where('email', '>', filter.after);
  if (filter.limit !== undefined) query.limit(filter.limit);
  return query;
}

/** The user of this e-mail address, or null. */
export async function findUser(db: Knex, email: string): Promise<User | null> {
  return (await listUsers(db, { email }))[0] ?? null;
}

/** Stores the time at which a user signed in. @returns the user's account; null for an operator. */
export async function noteSignIn(db: Knex, email: string): Promise<number | null> {
  const [user] = await db('users')
    .where({ email: email.toLowerCase() })
    .update({ last_signed_in_at: db.fn.now() })
    .returning('account_id');
  return user?.account_id ?? null;
}

/** Removes a user with all sessions and open invitations, with audit. @returns the removed user, or null when there is none. */
export async function removeUser(db: Knex, email: string, actor: string): Promise<User | null> {
  return db.transaction(async (trx) => {
    const user = await findUser(trx, email);
    await trx('invitations').where({ email: email.toLowerCase() }).whereNull('accepted_at').delete();
    if (!user) return null;
    await trx('users').where({ id: user.user_id }).delete();
    await recordAudit(trx, {
      accountId: user.account_id,
      actor,
      action: 'user_removed',
      subject: `user:${user.email}`,
    });
    return user;
  });
}
