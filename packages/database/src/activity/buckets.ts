import type { Knex } from 'knex';
import { timeOf } from '../receipts/partitions.ts';

/** How long a bucket of activity is, in milliseconds; weeks, by which receipts are dropped, begin with one. */
export const BUCKET_MS = 300_000;

/** The start of the bucket that a moment falls into, which for a receipt is the time of its id (`timeOf`), in Unix milliseconds. */
export function bucketOf(time: number): number {
  return Math.floor(time / BUCKET_MS) * BUCKET_MS;
}

/**
 * Has the buckets of these receipts computed again, whoever is computing them just now: to be called in the transaction that makes final
 * receipts pending.
 */
export async function reopenBuckets(
  trx: Knex,
  receipts: readonly { receipt_id: string; account_id: number }[],
): Promise<void> {
  const buckets = new Set(receipts.map((one) => `${one.account_id} ${bucketOf(timeOf(one.receipt_id))}`));
  const rows = [...buckets].map((bucket) => bucket.split(' ').map(Number) as [number, number]);
  await trx.raw(
    `insert into activity as a (account_id, bucket_start, reopened)
     select account_id, to_timestamp(start / 1000), 1
     from unnest(?::int[], ?::float8[]) as reopened(account_id, start) order by 1, 2
     on conflict (account_id, bucket_start) do update set settled = false, reopened = a.reopened + 1`,
    [rows.map(([accountId]) => accountId), rows.map(([, start]) => start)],
  );
}
