import type { PartitionWidth } from '@orders/runtime/config/settings.ts';
import { firstUuidAt, timeOf } from '../receipts/uuids.ts';
import { type Connection, run } from '../run.ts';

export const DAY_MS = 24 * 3_600_000;

/** The day, week or month in UTC that contains a time in Unix milliseconds. Weeks begin on Thursdays, as Unix time did. */
export function periodOf(time: number, width: PartitionWidth): Range {
  if (width === 'month') {
    const [year, month] = [new Date(time).getUTCFullYear(), new Date(time).getUTCMonth()];
    return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
  }
  const length = width === 'day' ? DAY_MS : 7 * DAY_MS;
  const from = Math.floor(time / length) * length;
  return { from, to: from + length };
}

export const PARTITIONED = ['receipts', 'receipt_payloads'] as const;
export type PartitionedTable = (typeof PARTITIONED)[number];

/** The columns by which they are partitioned. */
export const KEYS: Record<PartitionedTable, string> = { receipts: 'receipt_id', receipt_payloads: 'batch_id' };

/** The rows whose UUIDv7 time is in [`from`, `to`), in Unix milliseconds. */
export interface Range {
  from: number;
  to: number;
}

export interface Partition extends Range {
  table: PartitionedTable;
  name: string;
}

const LIST = `
select parent.relname as "table", child.relname as name, pg_get_expr(child.relpartbound, child.oid) as bound
from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class child on child.oid = inhrelid
where inhparent = any(array['receipts', 'receipt_payloads']::regclass[])`;

/** All partitions of receipts and bodies except the default ones, oldest first. */
export async function listPartitions(connection: Connection): Promise<Partition[]> {
  const rows = await run<{ table: PartitionedTable; name: string; bound: string }>(connection, LIST);
  return rows
    .flatMap(({ table, name, bound }) => {
      const [, from, to] = /^FOR VALUES FROM \((.+)\) TO \((.+)\)$/.exec(bound) ?? [];
      if (from === undefined || to === undefined) return [];
      return [{ table, name, from: timeOfBound(from), to: timeOfBound(to) }];
    })
    .toSorted((a, b) => a.from - b.from);
}

function timeOfBound(bound: string): number {
  if (bound === 'MINVALUE') return Number.NEGATIVE_INFINITY;
  if (bound === 'MAXVALUE') return Number.POSITIVE_INFINITY;
  return timeOf(bound.replaceAll("'", ''));
}

/** Whether a table exists. @param name without a schema. */
export async function hasTable(connection: Connection, name: string): Promise<boolean> {
  const [found] = await run<{ exists: boolean }>(connection, 'select to_regclass($1) is not null as exists', [name]);
  return found?.exists === true;
}

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
