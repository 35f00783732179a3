import type { Knex } from 'knex';

/** Removes expired attempt counts and sessions, and invitations that expired a month ago. */
export async function removeOldSignIns(db: Knex): Promise<void> {
  await db('sign_in_attempts').where('window_to', '<', db.fn.now()).delete();
  await db('user_sessions').where('expires_at', '<', db.fn.now()).delete();
  await db('invitations').whereRaw("expires_at < now() - interval '30 days'").delete();
}
