import type { Knex } from 'knex';

/** Pages per statement; dispatching waits for each statement. */
const PAGES = 1000;

/**
 * Removes resends whose receipts were dropped. It scans the table by pages, as an index by receipt id would cost more on each duplicate.
 *
 * @param receiptId the first receipt that is kept.
 * @param signal stops it between two chunks.
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
