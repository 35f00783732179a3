import { randomUUIDv7 } from 'node:crypto';
import { faultOf } from '@orders/database/database-errors.ts';
import { findReceiptsByKeys } from '@orders/database/receipts/record-receipts.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import { chunkLength } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import {
  compareBytes,
  compareContent,
  type DifferingReplay,
  type MismatchedReplay,
  type ReplayDeps,
  resolveReplay,
} from './compare-replays.ts';
import { storeMismatches } from './store-mismatches.ts';
import { bodyLength, type WaitingReceipt, wakeUpFor } from './waiting-receipt.ts';

/** Max concurrent chunks. An account has one at a time, so others wait only while this many accounts replay. */
const MAX_CONCURRENT = 4;
/** Max replays per chunk. Their bodies are hashed here, and their originals by Postgres: a few milliseconds at these sizes. */
const MAX_HASHED = { count: 50, size: 2 * 1024 * 1024 };
/** Max bytes of replays and originals whose content is compared in a chunk: by default, two pairs of the largest orders. */
const MAX_COMPARED = { size: 1024 * 1024 };

/**
 * Resolves replays, deliveries whose idempotency key is taken, with the original receipt. Content that differs from the original is first
 * stored as a new receipt. The queue works in small chunks, with accounts in rotation and apart from the writer of new receipts, so
 * however much one account replays, other accounts' orders and replays do not wait for its comparisons.
 *
 * @returns a function that adds a replay to the queue.
 */
export function createReplayQueue(deps: ReplayDeps): (replay: WaitingReceipt) => void {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT);
  const queues = new Map<number, WaitingReceipt[]>();

  async function processQueue(accountId: number, queue: WaitingReceipt[]): Promise<void> {
    while (queue.length > 0) {
      await runFairly(accountId, async () => {
        // Replays of one iteration of the event loop share a chunk.
        await new Promise(setImmediate);
        const chunk = queue.splice(0, chunkLength(queue, bodyLength, MAX_HASHED));
        queue.unshift(...(await processChunk(deps, accountId, chunk)));
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

/** @returns the replays left for a later chunk. */
async function processChunk(deps: ReplayDeps, accountId: number, chunk: WaitingReceipt[]): Promise<WaitingReceipt[]> {
  try {
    const differing = await compareBytes(deps, accountId, chunk);
    const count = chunkLength(differing, createMemorySize(), MAX_COMPARED);
    const mismatched = await compareContent(deps, accountId, differing.slice(0, count));
    await keepMismatches(deps, accountId, mismatched);
    return differing.slice(count).map(({ delivery }) => delivery);
  } catch (error) {
    for (const { reject } of chunk) reject(error);
    return [];
  }
}

/** The bytes in memory while a replay is compared. Replays of one original share its body. A replay of another order needs no original. */
function createMemorySize(): (differing: DifferingReplay) => number {
  const originals = new Set<string>();
  return ({ delivery, originalId, originalLength, isSameOrder }) => {
    const isAdded = isSameOrder && !originals.has(originalId);
    originals.add(originalId);
    return bodyLength(delivery) + (isAdded ? originalLength : 0);
  };
}

/**
 * Stores each mismatch as a new receipt, and resolves it. If the same content was stored under the same idempotency key before, that
 * receipt is used instead.
 */
async function keepMismatches(
  deps: ReplayDeps,
  accountId: number,
  mismatched: readonly MismatchedReplay[],
): Promise<void> {
  if (mismatched.length === 0) return;
  const { database, producer, graceMs, metrics, recordAgain } = deps;
  const batchId = randomUUIDv7();
  let storedIds: Set<string>;
  try {
    storedIds = await storeMismatches(
      database,
      batchId,
      graceMs,
      mismatched.map(({ mismatch }) => mismatch),
    );
  } catch (error) {
    if (mismatched.length === 1 || faultOf(error) !== 'receipt') throw error;
    // A row that Postgres rejects must not fail the others.
    for (const single of mismatched) {
      await keepMismatches(deps, accountId, [single]).catch((reason) => single.delivery.reject(reason));
    }
    return;
  }
  metrics.receipts.inc({ outcome: 'kept' }, storedIds.size);
  const stored = mismatched.filter(({ mismatch }) => storedIds.has(mismatch.receiptId));
  wakeWorker(producer, batchId, stored);
  const storedBefore = mismatched.filter(({ mismatch }) => !storedIds.has(mismatch.receiptId));
  const idsByKey = await findStoredBefore(deps, accountId, storedBefore);
  for (const { delivery, mismatch } of mismatched) {
    const { receiptId, idempotencyKey, originalId, isSameOrder } = mismatch;
    const keptId = storedIds.has(receiptId) ? receiptId : idsByKey.get(idempotencyKey);
    if (keptId !== undefined) {
      resolveReplay(deps, delivery, originalId, { receiptId: keptId, as: isSameOrder ? 'resend' : 'dead' });
    } else {
      // The content's key expired between the two statements, and so did the client's key.
      recordAgain(delivery);
    }
  }
}

/** @returns receipt ids by idempotency key. */
async function findStoredBefore(
  { database }: ReplayDeps,
  accountId: number,
  storedBefore: readonly MismatchedReplay[],
): Promise<Map<string, string>> {
  if (storedBefore.length === 0) return new Map();
  const keys = storedBefore.map(({ mismatch }) => mismatch.idempotencyKey);
  return findReceiptsByKeys(database, accountId, keys);
}

/** Sends a wake-up for the changed deliveries; the other mismatches are stored as dead and not processed. */
function wakeWorker(producer: Producer, batchId: string, stored: readonly MismatchedReplay[]): void {
  const resends = stored.flatMap(({ delivery, mismatch }) => (mismatch.isSameOrder ? delivery : []));
  const [first] = resends;
  if (!first) return;
  const wakeUp = wakeUpFor(batchId, resends);
  setImmediate(() => producer.wakeUp(first.lane, wakeUp));
}
