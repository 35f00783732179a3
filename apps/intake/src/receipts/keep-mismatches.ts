import { randomUUIDv7 } from 'node:crypto';
import { faultOf, findReceiptsByKeys, storeMismatches } from '@orders/database';
import type { Producer } from '@orders/queue';
import { type Mismatched, type ReplayDeps, resolveReplay } from './compare-replays.ts';
import { wakeUpFor } from './waiting-receipt.ts';

/**
 * Stores mismatches as receipts of their own, and resolves them. Content that was stored under the same idempotency key before keeps its
 * first receipt.
 */
export async function keepMismatches(
  deps: ReplayDeps,
  accountId: number,
  mismatched: readonly Mismatched[],
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
  const keptBefore = mismatched.filter(({ mismatch }) => !storedIds.has(mismatch.receiptId));
  const idsByKey = await findKeptBefore(deps, accountId, keptBefore);
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

async function findKeptBefore(
  { database }: ReplayDeps,
  accountId: number,
  keptBefore: readonly Mismatched[],
): Promise<Map<string, string>> {
  if (keptBefore.length === 0) return new Map();
  const keys = keptBefore.map(({ mismatch }) => mismatch.idempotencyKey);
  return findReceiptsByKeys(database, accountId, keys);
}

/** Only resends are processed; other orders are stored as dead. */
function wakeWorker(producer: Producer, batchId: string, stored: readonly Mismatched[]): void {
  const resends = stored.flatMap(({ delivery, mismatch }) => (mismatch.isResend ? delivery : []));
  const [first] = resends;
  if (!first) return;
  const wakeUp = wakeUpFor(batchId, resends);
  setImmediate(() => producer.wakeUp(first.lane, wakeUp));
}
