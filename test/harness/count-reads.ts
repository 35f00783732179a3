import type { Database } from '@orders/database/connect.ts';

const KINDS = {
  /** Rows, index entries and blocks. */
  everything: `(select sum(seq_tup_read) from pg_stat_user_tables) + (select sum(idx_tup_read) from pg_stat_user_indexes)
    + (select sum(blocks) from pg_statio_user_tables cross join unnest(array[heap_blks_hit, idx_blks_hit, toast_blks_hit,
         heap_blks_read, idx_blks_read, toast_blks_read]) as blocks)`,
  /** Blocks of long values, which Postgres stores apart from their rows. */
  'long values': '(select sum(toast_blks_hit + toast_blks_read) from pg_statio_user_tables)',
};

/**
 * Counts what the statements of `work` read.
 *
 * @param database has one connection, which `work` uses too: a session reports what it read when it is asked to.
 */
export async function countReads(
  { pool }: Database,
  kind: keyof typeof KINDS,
  work: () => Promise<unknown>,
): Promise<number> {
  const read = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    return Number((await pool.query(`select ${KINDS[kind]} as read`)).rows[0].read);
  };
  const before = await read();
  await work();
  return (await read()) - before;
}
