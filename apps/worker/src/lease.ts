import type { WakeUp } from '@orders/queue';
import type { BatchTrace } from './trace-batch.ts';

/** The exclusive right to write some receipts, and the wake-ups that named them. */
export interface Lease {
  id: string;
  wakeUps: readonly WakeUp[];
  /** Null when none of them is traced. */
  trace: BatchTrace | null;
}

/** Fields that identify a receipt in the log. */
export function logFields(receiptId: string, trace: BatchTrace | null): { receipt_id: string; trace_id?: string } {
  return { receipt_id: receiptId, ...(trace && { trace_id: trace.traceIdOf(receiptId) }) };
}
