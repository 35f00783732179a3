import { createFairQueue } from './fair-queue.ts';

/**
 * Limits how many pieces of work run at once; others wait for one to end, in the order in which they came.
 *
 * @returns does a piece of work, as soon as there is room, and has its outcome.
 */
export function limitConcurrency(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const runFairly = createFairQueue<null>(most);
  return (work) => runFairly(null, work);
}
