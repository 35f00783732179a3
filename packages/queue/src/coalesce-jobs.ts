import { chunkBySize } from '@orders/runtime';
import type { WakeUp } from './wake-up.ts';

/** Collects wake-ups into jobs. */
export interface JobCoalescer {
  add(wakeUp: WakeUp): void;
  /** Sends all pending wake-ups now. */
  flush(): void;
}

/**
 * The first wake-up is sent immediately; those of the next milliseconds share jobs. One job per order would cost more than all other
 * work for that order.
 */
const COALESCE_MS = 10;
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
    isCoalescing = pending.length > 0;
    if (!isCoalescing) return;
    flush();
    setTimeout(flushPeriodically, COALESCE_MS);
  }

  return {
    add(wakeUp) {
      pending.push(wakeUp);
      if (!isCoalescing) flushPeriodically();
    },
    flush,
  };
}
