import { timeOf } from '../receipts/uuids.ts';
import { type Connection, execute } from '../run.ts';

/** Histogram of the time from received to written: slot n covers 2^(n/4) to 2^((n+1)/4) milliseconds. */
const SLOTS_PER_DOUBLING = 4;
const LAST_SLOT = 127;

/** SQL: the slot of a duration in milliseconds. */
export function latencySlot(milliseconds: string): string {
  return `least(${LAST_SLOT}, floor(ln(greatest(1, ${milliseconds})) * ${SLOTS_PER_DOUBLING / Math.LN2}))::int`;
}

export interface SlotCount {
  slot: number;
  count: number;
}

/**
 * A quantile of a histogram in milliseconds, with an error of less than 10%; null when it is empty.
 *
 * @param share such as 0.5.
 */
export function quantile(histogram: readonly SlotCount[], share: number): number | null {
  const total = histogram.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  let rank = Math.max(1, Math.ceil(total * share));
  for (const { slot, count } of histogram.toSorted((a, b) => a.slot - b.slot)) {
    // Interpolates within the slot.
    if (rank <= count) return 2 ** ((slot + rank / count) / SLOTS_PER_DOUBLING);
    rank -= count;
  }
  return null;
}

/** Length of an activity bucket in milliseconds; a partition's week is a multiple of it. */
export const BUCKET_MS = 300_000;

/** The start of the bucket that contains a time, in Unix milliseconds. A receipt's bucket is that of its id's time (`timeOf`). */
export function bucketOf(time: number): number {
  return Math.floor(time / BUCKET_MS) * BUCKET_MS;
}

/**
 * Marks the buckets of these receipts to be recomputed, even if they are being computed now. Must be called in the transaction that makes
 * final receipts pending.
 */
export async function reopenBuckets(
  connection: Connection,
  receipts: readonly { receipt_id: string; account_id: number }[],
): Promise<void> {
  const buckets = new Set(receipts.map((receipt) => `${receipt.account_id} ${bucketOf(timeOf(receipt.receipt_id))}`));
  const rows = [...buckets].map((bucket) => bucket.split(' ').map(Number) as [number, number]);
  await execute(
    connection,
    `insert into activity as a (account_id, bucket_start, reopened)
     select account_id, to_timestamp(start / 1000), 1
     from unnest($1::int[], $2::float8[]) as reopened(account_id, start) order by 1, 2
     on conflict (account_id, bucket_start) do update set settled = false, reopened = a.reopened + 1`,
    [rows.map(([accountId]) => accountId), rows.map(([, start]) => start)],
  );
}
