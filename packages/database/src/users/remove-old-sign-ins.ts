import type { Knex } from 'knex';

/** Removes what nobody can use any more: counts past their window, sessions that have ended, and links a month after their time. */
export async function removeOldSignIns(db: Knex): Promise<void> {
  await db('sign_in_attempts').where('window_to', '<', db.fn.now()).delete();
  await db('user_sessions').where('expires_at', '<', db.fn.now()).delete();
  await db('invitations').whereRaw("expires_at < now() - interval '30 days'").delete();
}
