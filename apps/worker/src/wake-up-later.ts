import type { Producer } from '@orders/queue';
import type { WorkerBatch } from './worker-batch.ts';

/** Sends wake-ups for some receipts of a batch, which are due in `delayMs` milliseconds. If one is lost, the sweeper finds them. */
export function wakeUpLater(
  producer: Pick<Producer, 'wakeUp'>,
  { wakeUps }: Pick<WorkerBatch, 'wakeUps'>,
  receiptIds: readonly string[],
  delayMs: number,
): void {
  const wanted = new Set(receiptIds);
  for (const { batchId, receiptIds: all, traces = {} } of wakeUps) {
    const due = all.filter((receiptId) => wanted.has(receiptId));
    if (due.length === 0) continue;
    const traced = Object.entries(traces).filter(([receiptId]) => wanted.has(receiptId));
    const trace = traced.length > 0 ? { traces: Object.fromEntries(traced) } : {};
    producer.wakeUp('bulk', { batchId, receiptIds: due, ...trace }, delayMs);
  }
}
