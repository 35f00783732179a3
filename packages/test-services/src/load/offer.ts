import { setTimeout as sleep } from 'node:timers/promises';

/** Work that is under way at the same time. */
export function createInFlight() {
  const inFlight = new Set<Promise<void>>();
  return {
    get size() {
      return inFlight.size;
    },
    track(work: Promise<void>): Promise<void> {
      const tracked = work.finally(() => inFlight.delete(tracked));
      inFlight.add(tracked);
      return tracked;
    },
    /** Waits until nothing is under way, also not what begins meanwhile. */
    async settle(): Promise<void> {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

/** Repeats work, with a pause after each time, until it is stopped. The work must not fail. */
export function repeat(work: () => unknown, pauseMs: number): { stop(): Promise<void> } {
  let isRepeating = true;
  const repeating = (async () => {
    for (; isRepeating; await sleep(pauseMs)) await work();
  })();
  return {
    stop() {
      isRepeating = false;
      return repeating;
    },
  };
}

const TICK_MS = 5;

/**
 * Begins work at a rate, regardless of how long it takes, until it is stopped.
 *
 * @param options what is due while `max` are under way is left out.
 */
export function offerAtRate(
  { perSecond, max, inFlight }: { perSecond: number; max: number; inFlight: ReturnType<typeof createInFlight> },
  begin: () => Promise<void>,
): { stop(): Promise<void> } {
  const startedAt = performance.now();
  let offered = 0;
  return repeat(() => {
    for (const due = ((performance.now() - startedAt) / 1000) * perSecond; offered < due; offered += 1) {
      if (inFlight.size < max) void inFlight.track(begin());
    }
  }, TICK_MS);
}
