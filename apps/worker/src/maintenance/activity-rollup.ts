import { rollUpActivity } from '@orders/database';
import type { Maintenance } from './retention.ts';

/** How often activity is brought up to date, in milliseconds. */
export const ACTIVITY_INTERVAL_MS = 60_000;
/** Several workers each ask once a minute; one of them finds that it is due. */
const NOT_WITHIN_MS = ACTIVITY_INTERVAL_MS * 0.9;

/** Counts the outcomes of the receipts of the last minutes, for the portal's overview. */
export async function rollUpActivityOnce({ knex, step }: Maintenance): Promise<void> {
  await step('roll_up_activity', async () => {
    await rollUpActivity(knex, NOT_WITHIN_MS);
  });
}
