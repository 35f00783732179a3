import { rollUpActivity } from '@orders/database';
import type { Maintenance } from './retention.ts';

/** Interval of the activity rollup, in milliseconds. */
export const ACTIVITY_INTERVAL_MS = 60_000;
/** Each worker tries once a minute; the first one does the rollup and the others skip it. */
const MIN_AGE_MS = ACTIVITY_INTERVAL_MS * 0.9;

/** Counts the receipts of the last minutes by outcome, for the portal's overview. */
export async function rollUpActivityOnce({ knex, step }: Maintenance): Promise<void> {
  await step('roll_up_activity', async () => {
    await rollUpActivity(knex, MIN_AGE_MS);
  });
}
