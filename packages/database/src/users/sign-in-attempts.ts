import type { Knex } from 'knex';

/**
 * Counts one more attempt to sign in under a key, for all portals together; the first one after a window opens the next.
 *
 * @param windowMs from the first attempt on; one that comes later in it does not make it longer.
 * @returns the attempts of this window, this one included, and how long it lasts yet, in milliseconds.
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

/** Takes an attempt back that was no failure. */
export async function returnSignInAttempt(db: Knex, key: string): Promise<void> {
  await db('sign_in_attempts').where({ key }).where('attempts', '>', 0).decrement('attempts');
}

/** Forgets the attempts under a key. */
export async function forgetSignInAttempts(db: Knex, key: string): Promise<void> {
  await db('sign_in_attempts').where({ key }).delete();
}
