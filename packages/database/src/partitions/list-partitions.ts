import type { PartitionWidth } from '@orders/runtime/config/settings.ts';
import { timeOf } from '../receipts/uuids.ts';
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
