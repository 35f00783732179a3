import { createFairQueue } from './fair-queue.ts';

const SLICE_MS = 4;

/** Cuts long synchronous work into slices, so that the event loop serves everything else in between. */
export interface TimeSlicer {
  /**
   * Waits for a slice. Of all work that shares this slicer one slice runs in each iteration of the event loop, and accounts take turns.
   *
   * @returns says whether the slice is over; the caller then asks for the next one.
   */
  next(accountId: number): Promise<() => boolean>;
}

/** Creates a slicer; a process needs one. */
export function createTimeSlicer(): TimeSlicer {
  const runFairly = createFairQueue<number>(1);
  return {
    async next(accountId) {
      await runFairly(accountId, () => new Promise(setImmediate));
      const endsAt = performance.now() + SLICE_MS;
      return () => performance.now() >= endsAt;
    },
  };
}
