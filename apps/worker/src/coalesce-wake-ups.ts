import type { WakeUp } from '@orders/queue';
import { createMicroBatcher } from '@orders/runtime';

interface Waiting {
  wakeUps: WakeUp[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Receipts answered for together; a statement for so many costs each of them half of what one for fifty does. */
const MAX_RECEIPTS = 300;
/** Groups under way at once, where there is more than one can hold. */
const MAX_CONCURRENT_BATCHES = 2;

/**
 * Answers rings together that wait at the same time.
 *
 * @param answer for all rings of a group; what it throws, each of them throws.
 */
export function coalesceWakeUps(
  processWakeUps: (wakeUps: WakeUp[]) => Promise<void>,
): (wakeUps: WakeUp[]) => Promise<void> {
  const add = createMicroBatcher<Waiting>({
    maxConcurrent: MAX_CONCURRENT_BATCHES,
    take(waiting) {
      let receipts = 0;
      const tooMany = waiting.findIndex(({ wakeUps }, index) => {
        for (const { receiptIds } of wakeUps) receipts += receiptIds.length;
        return index > 0 && receipts > MAX_RECEIPTS;
      });
      return tooMany < 0 ? waiting.length : tooMany;
    },
    async work(group) {
      try {
        await processWakeUps(group.flatMap(({ wakeUps }) => wakeUps));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    },
  });
  return (wakeUps) => new Promise((resolve, reject) => add({ wakeUps, resolve, reject }));
}
