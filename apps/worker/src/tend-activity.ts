import { openKnex, rollUpActivity } from '@orders/database';

/** How often activity is brought up to date, in milliseconds. */
export const ACTIVITY_INTERVAL_MS = 60_000;
/** Of several workers, each of which asks once a minute, one finds that it is due. */
const NOT_WITHIN_MS = ACTIVITY_INTERVAL_MS * 0.9;
/** Short enough for a drain to wait for a turn. */
const QUERY_TIMEOUT_MS = 10_000;

/** Counts what became of the receipts of the last minutes, for the portal's overview; apart from the pool that orders are written by. */
export async function tendActivity(url: string, prepared: boolean): Promise<void> {
  const knex = openKnex({ url, prepared, applicationName: 'orders activity', queryTimeout: QUERY_TIMEOUT_MS });
  try {
    await rollUpActivity(knex, NOT_WITHIN_MS);
  } finally {
    await knex.destroy();
  }
}
