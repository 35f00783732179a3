import { findOriginals, forgetKey } from '@orders/database';
import { createFairQueue } from '@orders/runtime';
import {
  type Differing,
  type ReplayDeps,
  resolveReplay,
  splitByContent,
  storeAndResolveMismatches,
} from './resolve-mismatches.ts';
import type { WaitingReceipt } from './waiting-receipt.ts';

/** Max concurrent portions. An account has one at a time, so others wait only while this many accounts replay. */
const MAX_CONCURRENT = 4;
/** Max replays per portion. They are hashed here and their originals by Postgres: a few milliseconds at these sizes. */
const MAX_REPLAYS = 50;
const MAX_HASHED_BYTES = 2 * 1024 * 1024;
/** Max total bytes of originals and deliveries compared in a portion: by default, two pairs of the largest orders. At least one pair is compared. */
const MAX_COMPARED_BYTES = 1024 * 1024;

/**
 * Resolves deliveries whose idempotency key is taken with the original receipt. If the content differs, it is first stored as a receipt
 * of its own. Works in small portions, accounts in rotation, apart from the writer of new receipts: however much one account replays,
 * other accounts' orders and replays do not wait for its comparisons.
 *
 * @returns a function that adds a delivery to the queue.
 */
export function createReplayQueue(deps: ReplayDeps): (delivery: WaitingReceipt) => void {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT);
  const waiting = new Map<number, WaitingReceipt[]>();

  async function drain(accountId: number, queue: WaitingReceipt[]): Promise<void> {
    while (queue.length > 0) {
      await runFairly(accountId, async () => {
        // Deliveries of one iteration of the event loop share a portion.
        await new Promise(setImmediate);
        const portion = queue.splice(0, portionLength(queue));
        queue.unshift(...(await processPortion(deps, accountId, portion)));
      });
    }
    waiting.delete(accountId);
  }

  return (delivery) => {
    const { accountId } = delivery.receipt;
    const queue = waiting.get(accountId);
    if (queue) queue.push(delivery);
    else {
      const added = [delivery];
      waiting.set(accountId, added);
      void drain(accountId, added);
    }
  };
}

function portionLength(queue: readonly WaitingReceipt[]): number {
  let bytes = 0;
  const tooMany = queue.findIndex(({ receipt }, index) => {
    bytes += receipt.body.length;
    return index > 0 && (bytes > MAX_HASHED_BYTES || index >= MAX_REPLAYS);
  });
  return tooMany < 0 ? queue.length : tooMany;
}

/** @returns the deliveries left for a later portion. */
async function processPortion(
  deps: ReplayDeps,
  accountId: number,
  portion: WaitingReceipt[],
): Promise<WaitingReceipt[]> {
  try {
    const differing = await resolveIdentical(deps, accountId, portion);
    const count = countWithinBytes(differing);
    const mismatched = await splitByContent(deps, accountId, differing.slice(0, count));
    await storeAndResolveMismatches(deps, accountId, mismatched);
    return differing.slice(count).map(({ delivery }) => delivery);
  } catch (error) {
    for (const { reject } of portion) reject(error);
    return [];
  }
}

/** Resolves deliveries whose content need not be compared. @returns the rest. */
async function resolveIdentical(deps: ReplayDeps, accountId: number, portion: WaitingReceipt[]): Promise<Differing[]> {
  const replays = portion.map(({ receipt: { idempotencyKey, body } }) => ({
    accountId,
    idempotencyKey: idempotencyKey as string,
    body,
  }));
  const originals = await findOriginals(deps.database, replays);
  const differing: Differing[] = [];
  for (const [index, delivery] of portion.entries()) {
    const original = originals[index];
    if (!original) {
      // The key was deleted between the two statements.
      deps.record(delivery);
      continue;
    }
    const { receiptId, sourceOrderId, bodyLength, isSame } = original;
    const isResend = sourceOrderId === delivery.receipt.sourceOrderId;
    if (sourceOrderId === null) {
      // The key outlived its receipt, so it has expired.
      await forgetKey(deps.database, accountId, replays[index]?.idempotencyKey ?? '', receiptId);
      deps.record(delivery);
    }
    // If the original's body was erased, a resend counts as identical; another order is always kept.
    else if (isSame || (isSame === null && isResend)) resolveReplay(deps, delivery, receiptId);
    else differing.push({ delivery, originalId: receiptId, originalLength: bodyLength, isResend });
  }
  return differing;
}

/** Number of deliveries (at least one) that fit in memory with their originals. Deliveries of other orders are not compared: no original. */
function countWithinBytes(differing: readonly Differing[]): number {
  const originals = new Set<string>();
  let bytes = 0;
  const tooMany = differing.findIndex(({ delivery, originalId, originalLength, isResend }, index) => {
    bytes += delivery.receipt.body.length;
    if (isResend && !originals.has(originalId)) bytes += originalLength;
    originals.add(originalId);
    return index > 0 && bytes > MAX_COMPARED_BYTES;
  });
  return tooMany < 0 ? differing.length : tooMany;
}
