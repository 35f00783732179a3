import type { Producer } from '@orders/queue/open-producer.ts';
import type { WakeUp } from '@orders/queue/wake-up.ts';
import type { WorkerBatch } from './worker-batch.ts';

/**
 * Sends the wake-ups of some receipts of a batch, due in `delayMs` milliseconds, as one job. If it is lost, the sweeper finds them.
 *
 * @param postponements for each of them.
 */
export function wakeUpLater(
  producer: Pick<Producer, 'wakeUpLater'>,
  { wakeUps }: Pick<WorkerBatch, 'wakeUps'>,
  receiptIds: readonly string[],
  delayMs: number,
  postponements = 0,
): void {
  const wanted = new Set(receiptIds);
  const due: WakeUp[] = [];
  for (const { batchId, receiptIds: all, traces = {} } of wakeUps) {
    const ids = all.filter((receiptId) => wanted.has(receiptId));
    if (ids.length === 0) continue;
    const traced = Object.entries(traces).filter(([receiptId]) => wanted.has(receiptId));
    due.push({
      batchId,
      receiptIds: ids,
      ...(traced.length > 0 && { traces: Object.fromEntries(traced) }),
      ...(postponements > 0 && { postponements }),
    });
  }
  if (due.length > 0) producer.wakeUpLater('bulk', due, delayMs);
}
