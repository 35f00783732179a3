/**
 * Runs `work` when it is its key's turn and has its outcome. Work whose `signal` is aborted before its turn never runs and leaves the queue
 * at once; the promise is then rejected with the signal's reason.
 */
export type FairQueue<Key> = <Result>(
  key: Key,
  work: () => Promise<Result>,
  signal?: AbortSignal | undefined,
) => Promise<Result>;

/**
 * Limits how much work runs at once, and serves the keys that have work waiting in rotation: however much one key queues, each other key
 * waits for at most one piece of it. Work of one key starts in the order in which it came.
 *
 * @param maxConcurrent pieces of work running at once, of all keys together.
 */
export function createFairQueue<Key>(maxConcurrent: number): FairQueue<Key> {
  // In order of turns: a key that was served goes to the end.
  const waiting = new Map<Key, (() => void)[]>();
  let running = 0;

  function startNext(): void {
    const [turn] = waiting;
    if (!turn) return;
    const [key, starts] = turn;
    const start = starts.shift() as () => void;
    waiting.delete(key);
    if (starts.length > 0) waiting.set(key, starts);
    running += 1;
    start();
  }

  function waitForSlot(key: Key, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        const left = waiting.get(key)?.filter((other) => other !== start) ?? [];
        if (left.length > 0) waiting.set(key, left);
        else waiting.delete(key);
        reject(signal?.reason);
      };
      const starts = waiting.get(key);
      if (starts) starts.push(start);
      else waiting.set(key, [start]);
      signal?.addEventListener('abort', leave);
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
