import type { Knex } from 'knex';
import { firstUuidAt } from '../receipts/uuids.ts';
import { KEYS, type PartitionedTable, type Range, WEEK_MS } from './list-partitions.ts';
import { withLockRetries } from './with-lock-retries.ts';

/** A new receipt is updated once, others twice. With room for three versions, the updates stay on its page (HOT). */
const OPTIONS: Record<PartitionedTable, string> = {
  receipts: 'fillfactor = 35, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02',
  receipt_payloads: 'toast_tuple_target = 8160',
};

function nameOf(table: string, { from }: Range): string {
  const digits = new Date(from).toISOString().replaceAll(/\D/g, '');
  return `${table}_${from % WEEK_MS === 0 ? digits.slice(0, 8) : digits}`;
}

/**
 * Creates the partition of a range, and moves the rows of this range out of the default partition.
 *
 * @returns its name; null when it already exists.
 * @throws {pg.DatabaseError} as `withLockRetries`; nothing was changed.
 */
export async function createPartition(
  knex: Knex,
  table: PartitionedTable,
  range: Range,
  signal?: AbortSignal,
): Promise<string | null> {
  const name = nameOf(table, range);
  const [from, to] = [firstUuidAt(range.from), firstUuidAt(range.to)];
  return withLockRetries(
    knex,
    async (trx) => {
      // Serializes partition changes. Like a drop, it locks the table before its default partition. It blocks neither reads nor writes.
      await trx.raw(`lock table only ${table} in share update exclusive mode`);
      if (await trx.schema.hasTable(name)) return null;
      await trx.raw(`create table ${name} (like ${table} including all) with (${OPTIONS[table]})`);
      if ((await moveRows(trx, table, name, range)) > 0) {
        // Waits for statements that were planned before the move, as they would find the rows in neither partition.
        await trx.raw(`lock table only ${table} in access exclusive mode`);
        await moveRows(trx, table, name, range);
      }
      // Fails (23514) if a row was added to an empty range meanwhile; the next attempt moves it.
      await trx.raw(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`);
      return name;
    },
    signal,
  );
}

/** Blocks only writers of these rows. @returns the number of moved rows. */
async function moveRows(
  trx: Knex.Transaction,
  table: PartitionedTable,
  name: string,
  { from, to }: Range,
): Promise<number> {
  const key = KEYS[table];
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `with moved as (delete from ${table}_default where ${key} >= ? and ${key} < ? returning *) insert into ${name} select * from moved`,
    [firstUuidAt(from), firstUuidAt(to)],
  );
  return rowCount;
}
