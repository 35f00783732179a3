import { type IncomingReceipt, storedLength } from '@orders/database/receipts/record-receipts.ts';
import type { Lane, WakeUp } from '@orders/queue/wake-up.ts';
import type { Span } from '@orders/runtime/observability/span.ts';

/** A durable receipt: the delivery's own, or the one that first used its idempotency key. */
export interface Recorded {
  receiptId: string;
  duplicate: boolean;
  /** The key was first used with other content. */
  payloadMismatch: boolean;
  /** The receipt of the mismatched content. */
  kept?: StoredMismatch;
}

/** The receipt of a delivery whose idempotency key was first used with other content. */
export interface StoredMismatch {
  receiptId: string;
  /** `resend`: the same order as the original, processed. `dead`: another order, not processed until it is redriven. */
  as: 'resend' | 'dead';
}

/** A receipt that a request waits for. */
export interface WaitingReceipt {
  receipt: IncomingReceipt;
  lane: Lane;
  span: Span | null;
  resolve: (recorded: Recorded) => void;
  reject: (error: unknown) => void;
}

/** The wake-up for receipts of one write batch; their spans continue in the worker. */
export function wakeUpFor(batchId: string, stored: readonly WaitingReceipt[]): WakeUp {
  const wakeUp: WakeUp = {
    batchId,
    receiptIds: stored.map(({ receipt }) => receipt.receiptId),
    newBytes: stored.reduce((sum, { receipt }) => sum + receipt.body.length, 0),
  };
  for (const { receipt, span } of stored) {
    if (!span) continue;
    span.set({ 'orders.batch_id': batchId, 'orders.batch_size': stored.length });
    wakeUp.traces ??= {};
    wakeUp.traces[receipt.receiptId] = span.traceparent;
  }
  return wakeUp;
}

export function bodyLength({ receipt }: WaitingReceipt): number {
  return storedLength(receipt);
}
