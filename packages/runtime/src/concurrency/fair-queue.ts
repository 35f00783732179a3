/**
 * Runs `work` when its key is next, and returns its result. If `signal` is aborted before that, the work leaves the queue and the promise
 * is rejected with the signal's reason.
 */
export type FairQueue<Key> = <Result>(
  key: Key,
  work: () => Promise<Result>,
  signal?: AbortSignal | undefined,
) => Promise<Result>;

/**
 * Limits concurrency and serves the keys round-robin: however much one key queues, every other key waits for at most one piece of its work.
 * Work of one key starts in FIFO order.
 *
 * @param maxConcurrent pieces of work that run at the same time, over all keys.
 */
export function createFairQueue<Key>(maxConcurrent: number): FairQueue<Key> {
  // In round-robin order: a key that was served moves to the end.
  const waiting = new Map<Key, (() => void)[]>();
  let running = 0;

  function startNext(): void {
    const [next] = waiting;
    if (!next) return;
    const [key, starts] = next;
    const start = starts.shift() as () => void;
    waiting.delete(key);
    if (starts.length > 0) waiting.set(key, starts);
    running += 1;
    start();
  }

  function waitForSlot(key: Key, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        const left = waiting.get(key)?.filter((other) => other !== start) ?? [];
        if (left.length > 0) waiting.set(key, left);
        else waiting.delete(key);
        reject(signal?.reason);
      };
      const starts = waiting.get(key);
      if (starts) starts.push(start);
      else waiting.set(key, [start]);
      signal?.addEventListener('abort', onAbort);
    });
  }

  return async (key, work, signal) => {
    signal?.throwIfAborted();
    if (running < maxConcurrent && waiting.size === 0) running += 1;
    else await waitForSlot(key, signal);
    try {
      return await work();
    } finally {
      running -= 1;
      startNext();
    }
  };
}

/** @returns a function that runs work, at most `maxConcurrent` at the same time and in FIFO order, and returns its result. */
export function limitConcurrency(maxConcurrent: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const runFairly = createFairQueue<null>(maxConcurrent);
  return (work) => runFairly(null, work);
}
