import type { Ring } from '@orders/queue';
import { inGroups } from '@orders/runtime';

interface Waiting {
  rings: Ring[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Receipts answered for together; a statement for so many costs each of them half of what one for fifty does. */
const MAX_RECEIPTS = 300;
/** Groups under way at once, where there is more than one can hold. */
const AT_ONCE = 2;

/**
 * Answers rings together that wait at the same time.
 *
 * @param answer for all rings of a group; what it throws, each of them throws.
 */
export function gatherRings(answer: (rings: Ring[]) => Promise<void>): (rings: Ring[]) => Promise<void> {
  const add = inGroups<Waiting>({
    atOnce: AT_ONCE,
    take(waiting) {
      let receipts = 0;
      const tooMany = waiting.findIndex(({ rings }, index) => {
        for (const { receiptIds } of rings) receipts += receiptIds.length;
        return index > 0 && receipts > MAX_RECEIPTS;
      });
      return tooMany < 0 ? waiting.length : tooMany;
    },
    async work(group) {
      try {
        await answer(group.flatMap(({ rings }) => rings));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    },
  });
  return (rings) => new Promise((resolve, reject) => add({ rings, resolve, reject }));
}
