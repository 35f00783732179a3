import { setTimeout as sleep } from 'node:timers/promises';
import { fillSearchTerms } from './fill-search-terms.ts';
import type { Maintenance } from './maintenance.ts';

export const SEARCH_TERMS_INTERVAL_MS = 10_000;
/** Pause after each chunk as a multiple of its duration, so that orders have priority; bounds in milliseconds. */
const PAUSE_FACTOR = 30;
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [200, 5000];

/** Creates missing search terms of orders that need review, until none is missing. */
export async function fillSearchTermsUntilDone({ knex, stopping, step }: Maintenance): Promise<void> {
  const pause = async (workedMs: number) => {
    const pauseMs = Math.min(Math.max(PAUSE_FACTOR * workedMs, MIN_PAUSE_MS), MAX_PAUSE_MS);
    await sleep(pauseMs, null, { signal: stopping }).catch(() => {});
    return !stopping.aborted;
  };
  await step('fill_search_terms', async () => {
    while (!stopping.aborted && (await fillSearchTerms(knex, pause)) > 0);
  });
}
