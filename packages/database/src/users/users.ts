import type { Knex } from 'knex';

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
export async function listUsers(db: Knex, accountId?: number): Promise<User[]> {
  const query = db('users as u')
    .select('u.id as user_id', 'u.email', 'u.name', 'u.role', 'u.account_id', 'u.created_at')
    .select(db.raw('(select max(s.created_at) from user_sessions s where s.user_id = u.id) as last_signed_in_at'))
    .orderBy('u.email');
  return accountId === undefined ? query : query.where('u.account_id', accountId);
}

/** Removes a user with all sessions, at once; false when there is no such user. */
export async function removeUser(db: Knex, email: string): Promise<boolean> {
  return (await db('users').where({ email: email.toLowerCase() }).delete()) > 0;
}
