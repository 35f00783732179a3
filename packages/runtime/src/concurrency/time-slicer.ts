import { createFairQueue } from './fair-queue.ts';

const SLICE_MS = 4;

/** Splits long synchronous work into slices, so that it does not block the event loop. */
export interface TimeSlicer {
  /**
   * Waits for a slice. One slice runs per event loop iteration, and accounts alternate.
   *
   * @returns a function that says whether the slice is over; the caller then asks for the next one.
   */
  next(accountId: number): Promise<() => boolean>;
}

/** A process needs one slicer. */
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
