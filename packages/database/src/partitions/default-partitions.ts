import type { Knex } from 'knex';
import { firstUuidAt, timeOf } from '../receipts/uuids.ts';
import { KEYS, PARTITIONED, type PartitionedTable, type Range, WEEK_MS } from './list-partitions.ts';

/** Ids with a later time were not created by this service. */
const LATEST = Date.UTC(9999, 0);

/** The weeks that have rows in a default partition; costs one index lookup per week. */
export async function findWeeksInDefault(knex: Knex, table: PartitionedTable): Promise<number[]> {
  const weeks: number[] = [];
  for (let from = 0; from < LATEST; ) {
    const id = await findIdInDefault(knex, table, { from, to: LATEST });
    if (id === undefined) break;
    const week = Math.floor(timeOf(id) / WEEK_MS) * WEEK_MS;
    weeks.push(week);
    from = week + WEEK_MS;
  }
  return weeks;
}

/** The id at position `offset` of a range in a default partition; undefined if the range has fewer rows. */
export async function findIdInDefault(
  knex: Knex,
  table: PartitionedTable,
  { from, to }: Range,
  offset = 0,
): Promise<string | undefined> {
  const key = KEYS[table];
  const ids = await knex(`${table}_default`)
    .where(key, '>=', firstUuidAt(from))
    .where(key, '<', firstUuidAt(to))
    .orderBy(key)
    .offset(offset)
    .limit(1)
    .pluck<string[]>(key);
  return ids[0];
}

/** The time of the oldest receipt in the default partition, in Unix milliseconds; infinite if it is empty. */
export async function firstInDefault(knex: Knex): Promise<number> {
  const [id] = await knex('receipts_default').orderBy('receipt_id').limit(1).pluck<string[]>('receipt_id');
  return id === undefined ? Number.POSITIVE_INFINITY : timeOf(id);
}

const MAX_COUNTED = 10_000;

/** Number of rows in the default partitions of receipts and bodies; each count stops at 10,000. */
export async function countInDefault(knex: Knex): Promise<number> {
  const counts = PARTITIONED.map(
    (table) => `(select count(*) from (select from ${table}_default limit ${MAX_COUNTED}) as counted)`,
  );
  const { rows } = await knex.raw<{ rows: { count: number }[] }>(`select ${counts.join(' + ')} as count`);
  return rows[0]?.count ?? 0;
}
