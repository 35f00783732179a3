import type { WakeUp } from './wake-up.ts';

/** Rings on their way to becoming jobs. */
export interface SharedJobs {
  wakeUp(wakeUp: WakeUp): void;
  /** Delivers at once what waits. */
  flush(): void;
}

/**
 * A ring that comes alone goes at once; those of the so many milliseconds after it share jobs, because a job of its own costs an order
 * more than all that is done for it.
 */
const COALESCE_MS = 10;
/** Receipts that one job rings for, at most, unless they are of one ring. */
const MAX_RECEIPTS = 300;

/** @param deliver is called with the rings of one job. */
export function coalesceJobs(deliver: (wakeUps: WakeUp[]) => void): SharedJobs {
  let gathered: WakeUp[] = [];
  let resting = false;

  function flush(): void {
    for (const wakeUps of inJobs(gathered)) deliver(wakeUps);
    gathered = [];
  }

  function deliverAndRest(): void {
    resting = gathered.length > 0;
    if (!resting) return;
    flush();
    setTimeout(deliverAndRest, COALESCE_MS);
  }

  return {
    wakeUp(wakeUp) {
      gathered.push(wakeUp);
      if (!resting) deliverAndRest();
    },
    flush,
  };
}

function inJobs(wakeUps: readonly WakeUp[]): WakeUp[][] {
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
