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
    `insert into sign_in_failures as f (key, points, expire)
     select :key, 1, now_ms + :windowMs::int from (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms)
     on conflict (key) do update
     set points = case when f.expire > excluded.expire - :windowMs::int then f.points + 1 else 1 end,
         expire = case when f.expire > excluded.expire - :windowMs::int then f.expire else excluded.expire end
     returning points as attempts, expire - (extract(epoch from clock_timestamp()) * 1000)::bigint as "msLeft"`,
    { key, windowMs },
  );
  return rows[0];
}

/** Takes an attempt back that was no failure. */
export async function returnSignInAttempt(db: Knex, key: string): Promise<void> {
  await db('sign_in_failures').where({ key }).where('points', '>', 0).decrement('points');
}

/** Forgets the attempts under a key. */
export async function forgetSignInAttempts(db: Knex, key: string): Promise<void> {
  await db('sign_in_failures').where({ key }).delete();
}

/** Removes what nobody can use any more: counts past their window, sessions that have ended, and links a month after their time. */
export async function removeOldSignIns(db: Knex): Promise<void> {
  await db('sign_in_failures').whereRaw('expire < extract(epoch from now()) * 1000').delete();
  await db('user_sessions').where('expires_at', '<', db.fn.now()).delete();
  await db('invitations').whereRaw("expires_at < now() - interval '30 days'").delete();
}
