import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';

/** The hash of a user's password in the authentication library's format, or null. */
export async function findPasswordHash(db: Knex, userId: string): Promise<string | null> {
  const [row] = await db('user_credentials').where({ user_id: userId, provider_id: 'credential' }).select('password');
  return row?.password ?? null;
}

/** Sets a user's password and ends all their sessions. Must be called in a transaction. */
export async function setPassword(trx: Knex, userId: string, passwordHash: string): Promise<void> {
  await trx('user_sessions').where({ user_id: userId }).delete();
  await trx('user_credentials').where({ user_id: userId }).delete();
  await trx('user_credentials').insert({
    id: randomUUID(),
    user_id: userId,
    provider_id: 'credential',
    provider_account_id: userId,
    password: passwordHash,
  });
}
