import { openKnex, rollUpActivity } from '@orders/database';

/** How often activity is brought up to date, in milliseconds. */
export const ACTIVITY_INTERVAL_MS = 60_000;
/** Of several workers, each of which asks once a minute, one finds that it is due. */
const NOT_WITHIN_MS = ACTIVITY_INTERVAL_MS * 0.9;
const QUERY_TIMEOUT_MS = 30_000;

/** Counts what became of the receipts of the last minutes, for the portal's overview; apart from the pool that orders are written by. */
export async function tendActivity(databaseUrl: string): Promise<void> {
  const knex = openKnex({ url: databaseUrl, applicationName: 'orders activity', queryTimeout: QUERY_TIMEOUT_MS });
  try {
    await rollUpActivity(knex, NOT_WITHIN_MS);
  } finally {
    await knex.destroy();
  }
}
