import { createFairQueue } from './fair-queue.ts';

/** @returns a function that runs work, at most `maxConcurrent` at the same time and in FIFO order, and returns its result. */
export function limitConcurrency(maxConcurrent: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const runFairly = createFairQueue<null>(maxConcurrent);
  return (work) => runFairly(null, work);
}
