import type { PartitionWidth } from '@orders/runtime/config/settings.ts';
import { firstUuidAt, timeOf } from '../receipts/uuids.ts';
import { type Connection, run } from '../run.ts';
import { KEYS, PARTITIONED, type PartitionedTable, periodOf, type Range } from './list-partitions.ts';

/** Ids with a later time were not created by this service. */
const LATEST = Date.UTC(9999, 0);

/** The periods that have rows in a default partition; costs one index lookup per period. */
export async function findPeriodsInDefault(
  connection: Connection,
  table: PartitionedTable,
  width: PartitionWidth,
): Promise<Range[]> {
  const periods: Range[] = [];
  for (let from = 0; from < LATEST; ) {
    const id = await findIdInDefault(connection, table, { from, to: LATEST });
    if (id === undefined) break;
    const period = periodOf(timeOf(id), width);
    periods.push(period);
    from = period.to;
  }
  return periods;
}

/** The id at position `offset` of a range in a default partition; undefined if the range has fewer rows. */
export async function findIdInDefault(
  connection: Connection,
  table: PartitionedTable,
  { from, to }: Range,
  offset = 0,
): Promise<string | undefined> {
  const key = KEYS[table];
  const [found] = await run<{ id: string }>(
    connection,
    `select ${key} as id from ${table}_default where ${key} >= $1 and ${key} < $2 order by ${key} offset $3 limit 1`,
    [firstUuidAt(from), firstUuidAt(to), offset],
  );
  return found?.id;
}

/** The time of the oldest receipt in the default partition, in Unix milliseconds; infinite if it is empty. */
export async function firstInDefault(connection: Connection): Promise<number> {
  const [first] = await run<{ receipt_id: string }>(
    connection,
    'select receipt_id from receipts_default order by receipt_id limit 1',
  );
  return first ? timeOf(first.receipt_id) : Number.POSITIVE_INFINITY;
}

const MAX_COUNTED = 10_000;

/** Number of rows in the default partitions of receipts and bodies; each count stops at 10,000. */
export async function countInDefault(connection: Connection): Promise<number> {
  const counts = PARTITIONED.map(
    (table) => `(select count(*) from (select from ${table}_default limit ${MAX_COUNTED}) as counted)`,
  );
  const [row] = await run<{ count: number }>(connection, `select ${counts.join(' + ')} as count`);
  return row?.count ?? 0;
}
