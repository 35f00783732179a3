import { chunkLength, createFairQueue } from '@orders/runtime';
import { compareBytes, compareContent, type Differing, type ReplayDeps } from './compare-replays.ts';
import { keepMismatches } from './keep-mismatches.ts';
import { bodyLength, type WaitingReceipt } from './waiting-receipt.ts';

/** Max concurrent portions. An account has one at a time, so others wait only while this many accounts replay. */
const MAX_CONCURRENT = 4;
/** Max replays per portion. Their bodies are hashed here, and their originals by Postgres: a few milliseconds at these sizes. */
const HASHED = { count: 50, size: 2 * 1024 * 1024 };
/** Max bytes of replays and originals whose content is compared in a portion: by default, two pairs of the largest orders. */
const COMPARED = { size: 1024 * 1024 };

/**
 * Resolves replays, deliveries whose idempotency key is taken, with the original receipt. If the content differs, it is first stored as a
 * receipt of its own. Works in small portions, accounts in rotation, apart from the writer of new receipts: however much one account
 * replays, other accounts' orders and replays do not wait for its comparisons.
 *
 * @returns a function that adds a replay to the queue.
 */
export function createReplayQueue(deps: ReplayDeps): (replay: WaitingReceipt) => void {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT);
  const queues = new Map<number, WaitingReceipt[]>();

  async function processQueue(accountId: number, queue: WaitingReceipt[]): Promise<void> {
    while (queue.length > 0) {
      await runFairly(accountId, async () => {
        // Replays of one iteration of the event loop share a portion.
        await new Promise(setImmediate);
        const portion = queue.splice(0, chunkLength(queue, bodyLength, HASHED));
        queue.unshift(...(await processPortion(deps, accountId, portion)));
      });
    }
    queues.delete(accountId);
  }

  return (replay) => {
    const { accountId } = replay.receipt;
    const queue = queues.get(accountId);
    if (queue) queue.push(replay);
    else {
      const created = [replay];
      queues.set(accountId, created);
      void processQueue(accountId, created);
    }
  };
}

/** @returns the replays left for a later portion. */
async function processPortion(
  deps: ReplayDeps,
  accountId: number,
  portion: WaitingReceipt[],
): Promise<WaitingReceipt[]> {
  try {
    const differing = await compareBytes(deps, accountId, portion);
    const count = chunkLength(differing, createComparedLength(), COMPARED);
    const mismatched = await compareContent(deps, accountId, differing.slice(0, count));
    await keepMismatches(deps, accountId, mismatched);
    return differing.slice(count).map(({ delivery }) => delivery);
  } catch (error) {
    for (const { reject } of portion) reject(error);
    return [];
  }
}

/** The bytes in memory while a replay is compared. Replays of one original share its body; replays with another order need no original. */
function createComparedLength(): (differing: Differing) => number {
  const originals = new Set<string>();
  return ({ delivery, originalId, originalLength, isResend }) => {
    const isAdded = isResend && !originals.has(originalId);
    originals.add(originalId);
    return bodyLength(delivery) + (isAdded ? originalLength : 0);
  };
}
