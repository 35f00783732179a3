import type { WakeUp } from './wake-up.ts';

/** Collects wake-ups into jobs. */
export interface JobCoalescer {
  wakeUp(wakeUp: WakeUp): void;
  /** Delivers all pending wake-ups now. */
  flush(): void;
}

/**
 * The first wake-up is delivered immediately; those of the next milliseconds share jobs. One job per order would cost more than all other
 * work for that order.
 */
const COALESCE_MS = 10;
/** Max receipts per job, unless a single wake-up has more. */
const MAX_RECEIPTS = 300;

/** @param deliver is called with the wake-ups of one job. */
export function coalesceJobs(deliver: (wakeUps: WakeUp[]) => void): JobCoalescer {
  let pending: WakeUp[] = [];
  let isCoalescing = false;

  function flush(): void {
    for (const wakeUps of groupIntoJobs(pending)) deliver(wakeUps);
    pending = [];
  }

  function flushPeriodically(): void {
    isCoalescing = pending.length > 0;
    if (!isCoalescing) return;
    flush();
    setTimeout(flushPeriodically, COALESCE_MS);
  }

  return {
    wakeUp(wakeUp) {
      pending.push(wakeUp);
      if (!isCoalescing) flushPeriodically();
    },
    flush,
  };
}

function groupIntoJobs(wakeUps: readonly WakeUp[]): WakeUp[][] {
  const jobs: WakeUp[][] = [];
  let room = 0;
  for (const wakeUp of wakeUps) {
    if (wakeUp.receiptIds.length > room) {
      jobs.push([]);
      room = MAX_RECEIPTS;
    }
    jobs.at(-1)?.push(wakeUp);
    room -= wakeUp.receiptIds.length;
  }
  return jobs;
}
