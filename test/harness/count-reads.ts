import type { Database } from '@orders/database/connect.ts';
import type { Knex } from 'knex';

const ROWS =
  '(select sum(seq_tup_read) from pg_stat_user_tables) + (select sum(idx_tup_read) from pg_stat_user_indexes)';
const KINDS = {
  /** Also index entries. */
  rows: ROWS,
  'rows and blocks': `${ROWS}
    + (select sum(blocks) from pg_statio_user_tables cross join unnest(array[heap_blks_hit, idx_blks_hit, toast_blks_hit,
         heap_blks_read, idx_blks_read, toast_blks_read]) as blocks)`,
  /** Blocks of long values, which Postgres stores apart from their rows. */
  'long values': '(select sum(toast_blks_hit + toast_blks_read) from pg_statio_user_tables)',
};

/**
 * Counts what the statements of `work` read.
 *
 * @param by what `work` uses, and what set up what it reads: a session reports what it read when it is asked to, otherwise up to ten
 * seconds later. A pool has one connection.
 */
export async function countReads(
  by: readonly (Database | Knex)[],
  kind: keyof typeof KINDS,
  work: () => Promise<unknown>,
): Promise<number> {
  const ask = async (one: Database | Knex | undefined, sql: string) =>
    one && (await ('raw' in one ? one.raw(sql) : one.pool.query(sql))).rows[0];
  const read = async () => {
    for (const one of by) await ask(one, 'select pg_stat_force_next_flush()');
    return Number((await ask(by[0], `select ${KINDS[kind]} as read`)).read);
  };
  const before = await read();
  await work();
  return (await read()) - before;
}
