import { findOriginals, forgetKey } from '@orders/database';
import { createFairQueue } from '@orders/runtime';
import { answerReplay, type Differing, keepMismatched, type ReplayDeps, splitByContent } from './keep-mismatched.ts';
import type { WaitingReceipt } from './waiting-receipt.ts';

/** Portions processed at once. An account has one at a time, so others wait for a portion only when so many accounts replay. */
const MAX_CONCURRENT = 4;
/** Replays that a portion looks up. They are hashed here, and their originals by the statement: within some milliseconds at these sizes. */
const MAX_REPLAYS = 50;
const MAX_HASHED_BYTES = 2 * 1024 * 1024;
/** Bytes that a portion compares, of originals and deliveries, or one pair: two pairs of the largest orders by default. */
const MAX_COMPARED_BYTES = 1024 * 1024;

/**
 * Answers deliveries whose idempotency key is in use: with the original receipt, and where the content differs, after that is stored as a
 * receipt of its own. It works in small portions, accounts in rotation, apart from what writes new receipts: however much one account
 * replays, another's orders and replays do not wait behind its comparisons.
 *
 * @returns hands in a delivery.
 */
export function createReplayQueue(deps: ReplayDeps): (one: WaitingReceipt) => void {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT);
  const waiting = new Map<number, WaitingReceipt[]>();

  async function drain(accountId: number, queue: WaitingReceipt[]): Promise<void> {
    while (queue.length > 0) {
      await runFairly(accountId, async () => {
        // What arrives in one iteration of the event loop shares a portion.
        await new Promise(setImmediate);
        const portion = queue.splice(0, countOfPortion(queue));
        queue.unshift(...(await answer(deps, accountId, portion)));
      });
    }
    waiting.delete(accountId);
  }

  return (one) => {
    const { accountId } = one.receipt;
    const queue = waiting.get(accountId);
    if (queue) queue.push(one);
    else {
      const added = [one];
      waiting.set(accountId, added);
      void drain(accountId, added);
    }
  };
}

function countOfPortion(queue: readonly WaitingReceipt[]): number {
  let bytes = 0;
  const tooMany = queue.findIndex(({ receipt }, index) => {
    bytes += receipt.body.length;
    return index > 0 && (bytes > MAX_HASHED_BYTES || index >= MAX_REPLAYS);
  });
  return tooMany < 0 ? queue.length : tooMany;
}

/** @returns those left for a later portion. */
async function answer(deps: ReplayDeps, accountId: number, portion: WaitingReceipt[]): Promise<WaitingReceipt[]> {
  try {
    const differing = await answerSame(deps, accountId, portion);
    const count = countWithinBytes(differing);
    const mismatched = await splitByContent(deps, accountId, differing.slice(0, count));
    await keepMismatched(deps, accountId, mismatched);
    return differing.slice(count).map(({ one }) => one);
  } catch (error) {
    for (const { reject } of portion) reject(error);
    return [];
  }
}

/** Answers those whose content need not be compared. @returns the others. */
async function answerSame(deps: ReplayDeps, accountId: number, portion: WaitingReceipt[]): Promise<Differing[]> {
  const replays = portion.map(({ receipt: { idempotencyKey, body } }) => ({
    accountId,
    idempotencyKey: idempotencyKey as string,
    body,
  }));
  const originals = await findOriginals(deps.database, replays);
  const differing: Differing[] = [];
  for (const [index, one] of portion.entries()) {
    const original = originals[index];
    if (!original) {
      // The key was removed between the two statements.
      deps.record(one);
      continue;
    }
    const { receiptId, sourceOrderId, bodyLength, isSame } = original;
    const isResend = sourceOrderId === one.receipt.sourceOrderId;
    if (sourceOrderId === null) {
      // The key has outlived its receipt, and so its time.
      await forgetKey(deps.database, accountId, replays[index]?.idempotencyKey ?? '', receiptId);
      deps.record(one);
    }
    // Of a body that is gone nobody knows whether it was the same; another order is kept all the same.
    else if (isSame || (isSame === null && isResend)) answerReplay(deps, one, receiptId);
    else differing.push({ one, originalId: receiptId, originalLength: bodyLength, isResend });
  }
  return differing;
}

/** How many of them, at least one, may be in memory with their originals. Those of another order are not compared with them. */
function countWithinBytes(differing: readonly Differing[]): number {
  const originals = new Set<string>();
  let bytes = 0;
  const tooMany = differing.findIndex(({ one, originalId, originalLength, isResend }, index) => {
    bytes += one.receipt.body.length;
    if (isResend && !originals.has(originalId)) bytes += originalLength;
    originals.add(originalId);
    return index > 0 && bytes > MAX_COMPARED_BYTES;
  });
  return tooMany < 0 ? differing.length : tooMany;
}
