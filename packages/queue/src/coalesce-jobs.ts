import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import type { WakeUp } from './wake-up.ts';

/** Collects wake-ups into jobs. */
export interface JobCoalescer {
  add(wakeUp: WakeUp): void;
  /** Sends all pending wake-ups now. */
  flush(): void;
}

/**
 * The first wake-up is sent immediately; those of each period after it share jobs. One job per order would cost more than all other work
 * for that order. After a period with few receipts the next one is shorter, as waiting would cost more than it saves.
 */
const COALESCE_MS = 10;
const COALESCE_FEW_MS = 3;
const FEW_RECEIPTS = 10;
/** Max receipts per job, unless a single wake-up has more. */
const MAX_RECEIPTS = 300;

/** @param send is called with the wake-ups of one job. */
export function coalesceJobs(send: (wakeUps: WakeUp[]) => void): JobCoalescer {
  let pending: WakeUp[] = [];
  let isCoalescing = false;

  function flush(): void {
    for (const wakeUps of chunkBySize(pending, ({ receiptIds }) => receiptIds.length, { size: MAX_RECEIPTS })) {
      send(wakeUps);
    }
    pending = [];
  }

  function flushPeriodically(): void {
    const count = pending.reduce((sum, { receiptIds }) => sum + receiptIds.length, 0);
    isCoalescing = pending.length > 0;
    if (!isCoalescing) return;
    flush();
    setTimeout(flushPeriodically, count > FEW_RECEIPTS ? COALESCE_MS : COALESCE_FEW_MS);
  }

  return {
    add(wakeUp) {
      pending.push(wakeUp);
      if (!isCoalescing) flushPeriodically();
    },
    flush,
  };
}
