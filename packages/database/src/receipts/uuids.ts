import { randomUUID } from 'node:crypto';
/**
 * SQL: the column's value is in an array of receipt ids **in ascending order**. The explicit bounds let Postgres prune partitions; with the
 * array alone it would search every partition for each id.
 *
 * @param parameter such as `$1`.
 */
export function idIn(column: string, parameter: string): string {
  const ids = `${parameter}::uuid[]`;
  return `${column} = any(${ids}) and ${column} between (${ids})[1] and (${ids})[cardinality(${ids})]`;
}

/** Sorts ids as `idIn` requires; string order works, as ids are lower case. */
export function ascending(receiptIds: readonly string[]): string[] {
  return receiptIds.toSorted((a, b) => (a < b ? -1 : 1));
}

export const FIRST_UUID = '00000000-0000-0000-0000-000000000000';
export const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

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

/** A new id for the payload row of a receipt: a UUIDv7 of the same millisecond, so that both are dropped together. */
export function newBatchIdFor(receiptId: string): string {
  return `${receiptId.slice(0, 14)}7${randomUUID().slice(15)}`;
}
