import type { Knex } from 'knex';

/** Length of a partition in milliseconds. Weeks begin on Thursdays, as Unix time did. */
export const WEEK_MS = 7 * 24 * 3_600_000;

export const PARTITIONED = ['receipts', 'receipt_payloads'] as const;
export type PartitionedTable = (typeof PARTITIONED)[number];

/** A partition with the rows whose UUIDv7 time is in [`from`, `to`), in Unix milliseconds. */
export interface Partition {
  table: PartitionedTable;
  name: string;
  from: number;
  to: number;
}

/** Advisory lock: exclusive while a partition is checked and dropped, shared for redrives, the only way a final receipt becomes pending. */
export const RETENTION_LOCK = 7_310_442;

/**
 * The smallest UUIDv7 of a time (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then zeros.
 *
 * @param time Unix milliseconds.
 */
export function firstUuidAt(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The time in a UUIDv7, such as the id of a receipt or batch, in Unix milliseconds. */
export function timeOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

const LIST = `
select parent.relname as "table", child.relname as name, pg_get_expr(child.relpartbound, child.oid) as bound
from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class child on child.oid = inhrelid
where inhparent = any(array['receipts', 'receipt_payloads']::regclass[])`;

/** All partitions of receipts and bodies except the default ones, oldest first. */
export async function listPartitions(knex: Knex): Promise<Partition[]> {
  const { rows } = await knex.raw<{ rows: { table: PartitionedTable; name: string; bound: string }[] }>(LIST);
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
