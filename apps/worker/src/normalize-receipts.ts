import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Database } from '@orders/database/connect.ts';
import { faultOf, isDamage } from '@orders/database/database-errors.ts';
import type { WritableOrder } from '@orders/database/orders/write-orders.ts';
import { findReceiptBody } from '@orders/database/receipts/find-receipt.ts';
import { absentFields } from '@orders/domain/absent-fields.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { LONG_BODY_BYTES, parseStoredBody } from '@orders/domain/parse-body.ts';
import type { PendingReceipt } from './receipts/pending-receipts.ts';
import type { RecordFailure } from './record-failure.ts';
import type { WorkerBatch } from './worker-batch.ts';

/** An order to write, with the number of failed attempts before. */
export interface Writable extends WritableOrder {
  attempts: number;
}

/**
 * Normalizes the payload of each receipt. If one is unreadable or hits a bug, only its own receipt loses an attempt.
 *
 * @throws when infrastructure fails.
 */
export async function normalizeReceipts(
  batch: WorkerBatch,
  receipts: readonly PendingReceipt[],
  deps: { database: Database; recordFailure: RecordFailure },
): Promise<Writable[]> {
  const writable: Writable[] = [];
  for (const { receiptId, accountId, attempts, body: bodyRead } of receipts) {
    try {
      // The body was not read, or an erasure had just moved it.
      const body = bodyRead ?? (await findReceiptBody(deps.database, accountId, receiptId));
      // The other lane's batch can run between long orders.
      if (body && body.length > LONG_BODY_BYTES) await yieldToEventLoop();
      if (body === null) throw new Error('the body of the receipt is missing');
      writable.push({
        ...normalizeOrder(parseStoredBody(body)),
        receiptId,
        accountId,
        attempts,
        // Computed when read: only a duplicate needs them, and finding them in every order would make normalizing a third slower.
        get absent() {
          return absentFields(parseStoredBody(body));
        },
      });
    } catch (error) {
      if (faultOf(error) === 'infrastructure' && !isDamage(error)) throw error;
      await deps.recordFailure(batch, { receiptId, attempts, warnings: [] }, error);
    }
  }
  return writable;
}
