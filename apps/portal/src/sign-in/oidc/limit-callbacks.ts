import { returnSignInAttempt, takeSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';
import type { Knex } from 'knex';
import { boundsAround, takeWithin } from '../attempt-bounds.ts';
import { digestOf } from '../counter-keys.ts';
import { PENDING_MS } from './pending-sign-in.ts';
import { RefusedIdentity } from './refusal.ts';

const WINDOW_MS = 15 * 60_000;
/** Max callbacks from one network that fail within the window: each one makes the portal call the provider. */
const MAX_FAILURES = { narrow: 50, wide: 100, widest: 200 };

/**
 * Runs the rest of a callback, once for each sign-in and within the bounds of its networks. The callback is counted before it runs, and
 * uncounted when it succeeds.
 *
 * @throws {RefusedIdentity} `too_many_attempts`, or `expired` if the sign-in was completed before.
 */
export async function limitCallbacks<T>(
  db: Knex,
  { address, state }: { address: string; state: string },
  run: () => Promise<T>,
): Promise<T> {
  const bounds = boundsAround(address, MAX_FAILURES, 'identity provider');
  if (await takeWithin(db, bounds, WINDOW_MS)) throw new RefusedIdentity('too_many_attempts');
  // The provider, too, accepts a code once only.
  const uses = await takeSignInAttempt(db, digestOf('identity provider state', state), 2 * PENDING_MS);
  if (uses.attempts > 1) throw new RefusedIdentity('expired');
  const result = await run();
  for (const { key } of bounds) await returnSignInAttempt(db, key);
  return result;
}
