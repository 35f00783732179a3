import { type Connection, execute, run } from '../run.ts';

/**
 * Counts a sign-in attempt for a key, across all portals. The first attempt after a window starts a new one.
 *
 * @param windowMs from the first attempt on; later attempts do not extend it.
 * @returns the attempts in this window, including this one, and the remaining milliseconds of the window.
 */
export async function takeSignInAttempt(
  connection: Connection,
  key: string,
  windowMs: number,
): Promise<{ attempts: number; msLeft: number }> {
  const [taken] = await run<{ attempts: number; msLeft: number }>(
    connection,
    `insert into sign_in_attempts as a (key, attempts, window_to)
     values ($1, 1, clock_timestamp() + $2 * interval '1 ms')
     on conflict (key) do update
     set attempts = case when a.window_to > clock_timestamp() then a.attempts + 1 else 1 end,
         window_to = case when a.window_to > clock_timestamp() then a.window_to else excluded.window_to end
     returning attempts, extract(epoch from window_to - clock_timestamp())::float8 * 1000 as "msLeft"`,
    [key, windowMs],
  );
  return taken as { attempts: number; msLeft: number };
}

/** Subtracts an attempt that did not fail. */
export async function returnSignInAttempt(connection: Connection, key: string): Promise<void> {
  await execute(connection, 'update sign_in_attempts set attempts = attempts - 1 where key = $1 and attempts > 0', [
    key,
  ]);
}

/** Deletes the attempts of a key. */
export async function forgetSignInAttempts(connection: Connection, key: string): Promise<void> {
  await execute(connection, 'delete from sign_in_attempts where key = $1', [key]);
}

/**
 * Removes expired attempt counts, challenges, sessions and links for a new password, invitations that expired a month ago, and questions
 * about sign-ins of a month ago.
 */
export async function removeOldSignIns(connection: Connection): Promise<void> {
  await execute(connection, 'delete from sign_in_attempts where window_to < now()');
  await execute(connection, 'delete from user_verifications where expires_at < now()');
  await execute(connection, 'delete from user_sessions where expires_at < now() or ends_at < now()');
  await execute(connection, "delete from invitations where expires_at < now() - interval '30 days'");
  await execute(connection, 'delete from password_resets where expires_at < now()');
  await execute(connection, "delete from unconfirmed_sign_ins where at < now() - interval '30 days'");
}
