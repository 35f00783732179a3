import type { Knex } from 'knex';

/** Read, and maybe emptied, by one statement: what dispatches orders waits for each. */
const PAGES = 1000;

/**
 * Removes what is kept of receipts older than one, which are gone. By the pages of the table, as no index has receipts first: each would
 * cost every duplicate something.
 *
 * @param receiptId the first that stays.
 * @param signal ends it between two portions.
 */
export async function removeOldResends(knex: Knex, receiptId: string, signal?: AbortSignal): Promise<void> {
  const { rows } = await knex.raw<{ rows: { pages: number }[] }>(
    "select (pg_relation_size('resends') / current_setting('block_size')::int)::int as pages",
  );
  for (let page = 0; page < (rows[0]?.pages ?? 0) && !signal?.aborted; page += PAGES) {
    await knex.raw('delete from resends where ctid >= ?::tid and ctid < ?::tid and receipt_id < ?::uuid', [
      `(${page},0)`,
      `(${page + PAGES},0)`,
      receiptId,
    ]);
  }
}
