import type { Batch } from './cut-batches.ts';
import { isAccepted, type Result } from './journal-entries.ts';
import { type Progress, sampleOf } from './progress.ts';
import type { Input } from './read-input.ts';

/** Counts what this run reads and sends. */
export function createRunStats(input: Input, progress: Progress) {
  const startedAt = performance.now();
  let endedAt = startedAt;
  let [read, before, answered] = [0, 0, 0];
  const duplicates = new Map<number, number>();
  progress.orders = 0;
  progress.from = sampleOf(progress);
  const updateFraction = () => {
    if (input.size) progress.fraction = Math.min(1, (input.bytesRead / input.size) * (progress.orders / read || 0));
  };
  return {
    read({ orders }: Batch, known: boolean): void {
      read += orders.length;
      for (const { position, firstPosition } of orders)
        if (firstPosition !== null) duplicates.set(position, firstPosition);
      if (known) {
        before += orders.length;
        progress.orders += orders.length;
      }
      updateFraction();
      if (known) progress.from = sampleOf(progress);
      // The fraction is based on what was read, which runs ahead; the start sample must use the same base.
      else if (answered === 0) progress.from.fraction = progress.fraction;
    },
    answered(results: readonly Result[]): void {
      endedAt = performance.now();
      answered += results.length;
      progress.orders += results.length;
      progress.refused += results.filter((result) => !isAccepted(result)).length;
      updateFraction();
    },
    sent() {
      const seconds = (endedAt - startedAt) / 1000;
      return {
        read,
        /** By position, orders with the source_order_id of an earlier one; the value is the position of that one. */
        duplicates,
        sent_before: before,
        seconds,
        orders_per_second: seconds > 0 ? (read - before) / seconds : 0,
      };
    },
  };
}
