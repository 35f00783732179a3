import { setTimeout as sleep } from 'node:timers/promises';
import { fillWords } from '@orders/database';
import type { Maintenance } from './retention.ts';

/** How often somebody looks whether there is anything to do, in milliseconds. */
export const SEARCH_TERMS_INTERVAL_MS = 10_000;
/** Rest in multiples of the time worked, within bounds in milliseconds: orders come first, their search terms have time. */
const REST = 30;
const [MIN_REST_MS, MAX_REST_MS] = [200, 5000];

/** Makes the search terms of orders that need review, until there is nothing left to do. */
export async function fillSearchTerms({ knex, stopping, step }: Maintenance): Promise<void> {
  const rest = async (workedMs: number) => {
    const restMs = Math.min(Math.max(REST * workedMs, MIN_REST_MS), MAX_REST_MS);
    await sleep(restMs, null, { signal: stopping }).catch(() => {});
    return !stopping.aborted;
  };
  await step('fill_search_terms', async () => {
    while (!stopping.aborted && (await fillWords(knex, rest)) > 0);
  });
}
