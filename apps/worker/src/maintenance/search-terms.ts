import { setTimeout as sleep } from 'node:timers/promises';
import { fillWords } from '@orders/database';
import type { Maintenance } from './retention.ts';

/** How often somebody looks whether there is anything to do, in milliseconds. */
export const SEARCH_TERMS_INTERVAL_MS = 10_000;
/** Rest in multiples of the time worked, within bounds in milliseconds: orders come first, their search terms have time. */
const PAUSE = 30;
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [200, 5000];

/** Makes the search terms of orders that need review, until there is nothing left to do. */
export async function fillSearchTerms({ knex, stopping, step }: Maintenance): Promise<void> {
  const rest = async (workedMs: number) => {
    const pauseMs = Math.min(Math.max(PAUSE * workedMs, MIN_PAUSE_MS), MAX_PAUSE_MS);
    await sleep(pauseMs, null, { signal: stopping }).catch(() => {});
    return !stopping.aborted;
  };
  await step('fill_search_terms', async () => {
    while (!stopping.aborted && (await fillWords(knex, rest)) > 0);
  });
}
