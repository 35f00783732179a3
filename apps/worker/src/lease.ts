import type { WakeUp } from '@orders/queue';
import type { BatchTrace } from './trace-batch.ts';

/** The right to write certain receipts, and the rings that brought them. */
export interface Lease {
  id: string;
  wakeUps: readonly WakeUp[];
  /** Null where nothing of them is traced. */
  trace: BatchTrace | null;
}

/** What names a receipt in the log. */
export function logFields(receiptId: string, trace: BatchTrace | null): { receipt_id: string; trace_id?: string } {
  return { receipt_id: receiptId, ...(trace && { trace_id: trace.traceIdOf(receiptId) }) };
}
