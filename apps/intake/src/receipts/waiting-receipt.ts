import type { IncomingReceipt } from '@orders/database';
import type { Lane, WakeUp } from '@orders/queue';
import type { Span } from '@orders/runtime';

/** A receipt that is durable now: this request's own, or the one that first used its idempotency key. */
export interface Recorded {
  receiptId: string;
  duplicate: boolean;
  /** The key came with other content than at first. */
  payloadMismatch: boolean;
  /** With a mismatch: where its content is kept. */
  kept?: Kept;
}

/** The receipt of a delivery under an idempotency key that another content used first. */
export interface Kept {
  receiptId: string;
  /** It names the same order as the original and is processed; or another order, and is dead until somebody redrives it. */
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

/** The wake-up for receipts that were stored together; their spans continue in the worker. */
export function wakeUpFor(batchId: string, stored: readonly WaitingReceipt[]): WakeUp {
  const wakeUp: WakeUp = { batchId, receiptIds: stored.map(({ receipt }) => receipt.receiptId) };
  for (const { receipt, span } of stored) {
    if (!span) continue;
    span.set({ 'orders.batch_id': batchId, 'orders.batch_size': stored.length });
    wakeUp.traces ??= {};
    wakeUp.traces[receipt.receiptId] = span.traceparent;
  }
  return wakeUp;
}
