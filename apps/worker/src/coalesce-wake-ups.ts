import type { WakeUp } from '@orders/queue/wake-up.ts';
import { chunkLength } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { batchCalls } from '@orders/runtime/concurrency/micro-batcher.ts';

/** Max receipts per batch. Per receipt, a statement for 300 costs half as much as one for 50. */
export const MAX_RECEIPTS = 300;
/** The second batch starts only when more wake-ups wait than fit into one. */
const MAX_CONCURRENT_BATCHES = 2;
/** A batch can wait for the locks of one account. After 25 ms more batches may run, so that other accounts do not wait for it. */
const WHEN_SLOW = { afterMs: 25, maxConcurrent: 4 };

/** Processes wake-ups that wait at the same time in one batch. An error of `processWakeUps` rejects each call in the batch. */
export function coalesceWakeUps(
  processWakeUps: (wakeUps: WakeUp[]) => Promise<void>,
): (wakeUps: WakeUp[]) => Promise<void> {
  return batchCalls<WakeUp[], void>({
    maxConcurrent: MAX_CONCURRENT_BATCHES,
    whenSlow: WHEN_SLOW,
    nextBatchSize: (waiting) => chunkLength(waiting, countReceipts, { size: MAX_RECEIPTS }),
    async work(batch) {
      await processWakeUps(batch.flat());
      return [];
    },
  });
}

export function countReceipts(wakeUps: readonly WakeUp[]): number {
  return wakeUps.reduce((sum, { receiptIds }) => sum + receiptIds.length, 0);
}
