import { randomUUIDv7 } from 'node:crypto';
import { faultOf } from '@orders/database/database-errors.ts';
import { findReceiptsByKeys, storeMismatches } from './store-mismatches.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import { type MismatchedReplay, type ReplayDeps, resolveReplay } from './compare-replays.ts';
import { wakeUpFor } from './waiting-receipt.ts';

/**
 * Stores each mismatch as a new receipt, and resolves it. If the same content was stored under the same idempotency key before, that
 * receipt is used instead.
 */
export async function keepMismatches(
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
    const { receiptId, idempotencyKey, originalId, isResend } = mismatch;
    const keptId = storedIds.has(receiptId) ? receiptId : idsByKey.get(idempotencyKey);
    if (keptId !== undefined) {
      resolveReplay(deps, delivery, originalId, { receiptId: keptId, as: isResend ? 'resend' : 'dead' });
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

/** Sends a wake-up for the resends; the other mismatches are stored as dead and not processed. */
function wakeWorker(producer: Producer, batchId: string, stored: readonly MismatchedReplay[]): void {
  const resends = stored.flatMap(({ delivery, mismatch }) => (mismatch.isResend ? delivery : []));
  const [first] = resends;
  if (!first) return;
  const wakeUp = wakeUpFor(batchId, resends);
  setImmediate(() => producer.wakeUp(first.lane, wakeUp));
}
