import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';

export type Role = 'operator' | 'account_holder';

/** Somebody who may sign in to the portal; an operator has no account of their own. */
export interface User {
  user_id: string;
  email: string;
  name: string;
  role: Role;
  account_id: number | null;
  created_at: Date;
  last_signed_in_at: Date | null;
}

/** All users, or those of one account, by e-mail address. */
export function listUsers(db: Knex, accountId?: number): Knex.QueryBuilder<User, User[]> {
  const query = db('users as u')
    .select('u.id as user_id', 'u.email', 'u.name', 'u.role', 'u.account_id', 'u.created_at', 'u.last_signed_in_at')
    .orderBy('u.email');
  return accountId === undefined ? query : query.where('u.account_id', accountId);
}

/** The user of this e-mail address, or null. */
export async function findUser(db: Knex, email: string): Promise<User | null> {
  const [user] = await listUsers(db).where('u.email', email.toLowerCase());
  return user ?? null;
}

/** Notes that a user signed in. */
export async function noteSignIn(db: Knex, email: string): Promise<void> {
  await db('users').where({ email: email.toLowerCase() }).update({ last_signed_in_at: db.fn.now() });
}

/** Removes a user at once, on record, with all sessions and the links that were sent; returns who it was, or null when there is none. */
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
