import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  type ClaimedReceipt,
  type Database,
  faultOf,
  findReceiptBody,
  isDamage,
  type WritableOrder,
} from '@orders/database';
import { LONG_BODY_BYTES, normalizeOrder, parseBody } from '@orders/domain';
import type { Lease } from './lease.ts';
import type { RecordFailure } from './record-failure.ts';

/** What is to be written, with the number of attempts that went before. */
export interface Writable extends WritableOrder {
  attempts: number;
}

/**
 * Normalizes each claimed payload. One that cannot be read, or fails by a fault of ours, costs its own receipt an attempt and no other
 * receipt anything.
 *
 * @throws when infrastructure fails.
 */
export async function normalizeClaimed(
  lease: Lease,
  claimed: readonly ClaimedReceipt[],
  deps: { database: Database; recordFailure: RecordFailure },
): Promise<Writable[]> {
  const writable: Writable[] = [];
  for (const { receiptId, accountId, attempts, body: claimedBody } of claimed) {
    try {
      // An erasure may have moved the body after the claim saw where it lies.
      const body = claimedBody ?? (await findReceiptBody(deps.database, accountId, receiptId));
      // Another lane's batch runs between long orders.
      if (body && body.length > LONG_BODY_BYTES) await yieldToEventLoop();
      if (body === null) throw new Error('the body of the receipt is not there');
      writable.push({ receiptId, accountId, attempts, ...normalizeOrder(parseBody(body)) });
    } catch (error) {
      if (faultOf(error) === 'infrastructure' && !isDamage(error)) throw error;
      await deps.recordFailure(lease, { receiptId, attempts, warnings: [] }, error);
    }
  }
  return writable;
}
