import type { WakeUp } from '@orders/queue/wake-up.ts';
import type { BatchTrace } from './trace-batch.ts';

/** Receipts that are processed together, named by their wake-ups. */
export interface WorkerBatch {
  /** Null for new receipts, which are read without a lease: the first worker that writes one wins. */
  leaseId: string | null;
  wakeUps: readonly WakeUp[];
  /** Null when none of them is traced. */
  trace: BatchTrace | null;
}
