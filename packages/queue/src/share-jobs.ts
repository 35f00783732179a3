import type { Ring } from './ring.ts';

/** Rings on their way to becoming jobs. */
export interface SharedJobs {
  ring(ring: Ring): void;
  /** Delivers at once what waits. */
  flush(): void;
}

/**
 * A ring that comes alone goes at once; those of the so many milliseconds after it share jobs, because a job of its own costs an order
 * more than all that is done for it.
 */
const REST_MS = 10;
/** Receipts that one job rings for, at most, unless they are of one ring. */
const MAX_RECEIPTS = 300;

/** @param deliver is called with the rings of one job. */
export function shareJobs(deliver: (rings: Ring[]) => void): SharedJobs {
  let gathered: Ring[] = [];
  let resting = false;

  function flush(): void {
    for (const rings of inJobs(gathered)) deliver(rings);
    gathered = [];
  }

  function deliverAndRest(): void {
    resting = gathered.length > 0;
    if (!resting) return;
    flush();
    setTimeout(deliverAndRest, REST_MS);
  }

  return {
    ring(ring) {
      gathered.push(ring);
      if (!resting) deliverAndRest();
    },
    flush,
  };
}

function inJobs(rings: readonly Ring[]): Ring[][] {
  const jobs: Ring[][] = [];
  let room = 0;
  for (const ring of rings) {
    if (ring.receiptIds.length > room) {
      jobs.push([]);
      room = MAX_RECEIPTS;
    }
    jobs.at(-1)?.push(ring);
    room -= ring.receiptIds.length;
  }
  return jobs;
}
