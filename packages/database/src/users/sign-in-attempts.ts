import type { Knex } from 'knex';

/**
 * Counts a sign-in attempt for a key, across all portals. The first attempt after a window starts a new one.
 *
 * @param windowMs from the first attempt on; later attempts do not extend it.
 * @returns the attempts in this window, including this one, and the remaining milliseconds of the window.
 */
export async function takeSignInAttempt(
  db: Knex,
  key: string,
  windowMs: number,
): Promise<{ attempts: number; msLeft: number }> {
  const { rows } = await db.raw(
    `insert into sign_in_attempts as a (key, attempts, window_to)
     values (:key, 1, clock_timestamp() + :windowMs * interval '1 ms')
     on conflict (key) do update
     set attempts = case when a.window_to > clock_timestamp() then a.attempts + 1 else 1 end,
         window_to = case when a.window_to > clock_timestamp() then a.window_to else excluded.window_to end
     returning attempts, extract(epoch from window_to - clock_timestamp())::float8 * 1000 as "msLeft"`,
    { key, windowMs },
  );
  return rows[0];
}

/** Subtracts an attempt that did not fail. */
export async function returnSignInAttempt(db: Knex, key: string): Promise<void> {
  await db('sign_in_attempts').where({ key }).where('attempts', '>', 0).decrement('attempts');
}

/** Deletes the attempts of a key. */
export async function forgetSignInAttempts(db: Knex, key: string): Promise<void> {
  await db('sign_in_attempts').where({ key }).delete();
}

/**
 * Removes expired attempt counts, challenges, sessions and links for a new password, invitations that expired a month ago, and questions
 * about sign-ins of a month ago.
 */
export async function removeOldSignIns(db: Knex): Promise<void> {
  await db('sign_in_attempts').where('window_to', '<', db.fn.now()).delete();
  await db('user_verifications').where('expires_at', '<', db.fn.now()).delete();
  await db('user_sessions').where('expires_at', '<', db.fn.now()).orWhere('ends_at', '<', db.fn.now()).delete();
  await db('invitations').whereRaw("expires_at < now() - interval '30 days'").delete();
  await db('password_resets').where('expires_at', '<', db.fn.now()).delete();
  await db('unconfirmed_sign_ins').whereRaw("at < now() - interval '30 days'").delete();
}
