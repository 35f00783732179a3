import type { WakeUp } from '@orders/queue/wake-up.ts';
import { chunkLength } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { createMicroBatcher } from '@orders/runtime/concurrency/micro-batcher.ts';

interface Waiting {
  wakeUps: WakeUp[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

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
  const add = createMicroBatcher<Waiting>({
    maxConcurrent: MAX_CONCURRENT_BATCHES,
    whenSlow: WHEN_SLOW,
    nextBatchSize: (waiting) => chunkLength(waiting, ({ wakeUps }) => countReceipts(wakeUps), { size: MAX_RECEIPTS }),
    async work(batch) {
      try {
        await processWakeUps(batch.flatMap(({ wakeUps }) => wakeUps));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    },
  });
  return (wakeUps) => new Promise((resolve, reject) => add({ wakeUps, resolve, reject }));
}

export function countReceipts(wakeUps: readonly WakeUp[]): number {
  return wakeUps.reduce((sum, { receiptIds }) => sum + receiptIds.length, 0);
}
