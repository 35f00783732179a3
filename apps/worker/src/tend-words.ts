import { setTimeout as sleep } from 'node:timers/promises';
import { fillWords, openKnex } from '@orders/database';

/** How often somebody looks whether there is anything to do, in milliseconds. */
export const WORDS_INTERVAL_MS = 10_000;
/** It rests so many times as long as it worked, within bounds in milliseconds: orders come first, their words have time. */
const REST = 30;
const [MIN_REST_MS, MAX_REST_MS] = [200, 5000];
/** Short enough for a drain to wait for one. */
const QUERY_TIMEOUT_MS = 10_000;

/** Makes the words that orders are found by, until there is nothing left to do; apart from the pool that orders are written by. */
export async function tendWords(url: string, prepared: boolean, stopping: AbortSignal): Promise<void> {
  const knex = openKnex({ url, prepared, applicationName: 'orders words', queryTimeout: QUERY_TIMEOUT_MS });
  const rest = async (workedMs: number) => {
    await sleep(Math.min(Math.max(REST * workedMs, MIN_REST_MS), MAX_REST_MS), null, { signal: stopping }).catch(
      () => {},
    );
    return !stopping.aborted;
  };
  try {
    while (!stopping.aborted && (await fillWords(knex, rest)) > 0);
  } finally {
    await knex.destroy();
  }
}
