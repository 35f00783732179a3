/**
 * Runs `work` when its key is next, and returns its result. If `signal` is aborted before that, the work leaves the queue and the promise
 * is rejected with the signal's reason.
 */
type FairQueue<Key> = <Result>(
  key: Key,
  work: () => Promise<Result>,
  signal?: AbortSignal | undefined,
) => Promise<Result>;

/**
 * Limits concurrency and serves the keys round-robin: however much one key queues, every other key waits for at most one piece of its work.
 * Work of one key starts in FIFO order.
 *
 * @param maxConcurrent pieces of work that run at the same time, over all keys.
 * @param maxPerKey pieces of work of one key that run at the same time.
 * @param goesFirst work of the keys for which it is true starts before that of all others.
 */
export function createFairQueue<Key>(
  maxConcurrent: number,
  maxPerKey = maxConcurrent,
  goesFirst: (key: Key) => boolean = () => true,
): FairQueue<Key> {
  // In round-robin order: a key that was served moves to the end.
  const waiting = new Map<Key, (() => void)[]>();
  const running = new Map<Key, number>();
  let total = 0;

  const runningOf = (key: Key) => running.get(key) ?? 0;
  const canStart = (key: Key) => total < maxConcurrent && runningOf(key) < maxPerKey;

  function begin(key: Key): void {
    total += 1;
    running.set(key, runningOf(key) + 1);
  }

  function end(key: Key): void {
    total -= 1;
    if (runningOf(key) > 1) running.set(key, runningOf(key) - 1);
    else running.delete(key);
  }

  function startNext(): void {
    let next: Key | undefined;
    for (const key of waiting.keys()) {
      if (!canStart(key)) continue;
      next ??= key;
      if (!goesFirst(key)) continue;
      next = key;
      break;
    }
    if (next !== undefined) start(next);
  }

  function start(key: Key): void {
    const starts = waiting.get(key) ?? [];
    const resume = starts.shift() as () => void;
    waiting.delete(key);
    if (starts.length > 0) waiting.set(key, starts);
    begin(key);
    resume();
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
    // A key that waits is at its own limit while there is room for others.
    if (canStart(key) && !waiting.has(key)) begin(key);
    else await waitForSlot(key, signal);
    try {
      return await work();
    } finally {
      end(key);
      startNext();
    }
  };
}

/** @returns a function that runs work, at most `maxConcurrent` at the same time and in FIFO order, and returns its result. */
export function limitConcurrency(maxConcurrent: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const runFairly = createFairQueue<null>(maxConcurrent);
  return (work) => runFairly(null, work);
}

/** A budget that accounts, or other keys, share, such as requests in flight, bytes or waiters. */
export interface FairBudget<Key = number> {
  readonly max: number;
  /** Taken by all keys. */
  readonly taken: number;
  takenBy(key: Key): number;
  /** Whether `take` would succeed. */
  hasRoom(key: Key, amount: number): boolean;
  /** @returns false, and takes nothing, when it would exceed the key's share. */
  take(key: Key, amount: number): boolean;
  release(key: Key, amount: number): void;
}

/**
 * Shares a budget by dynamic thresholds (Choudhury and Hahne, 1998): a key, such as an account, may hold at most as much as is free. A
 * single key gets half, two get a third each, and there is always room for another key.
 */
export function createFairBudget<Key = number>(max: number): FairBudget<Key> {
  const amounts = new Map<Key, number>();
  let taken = 0;
  const takenBy = (key: Key) => amounts.get(key) ?? 0;
  const hasRoom = (key: Key, amount: number) => takenBy(key) + amount <= max - taken;

  return {
    max,
    get taken() {
      return taken;
    },
    takenBy,
    hasRoom,
    take(key, amount) {
      if (!hasRoom(key, amount)) return false;
      amounts.set(key, takenBy(key) + amount);
      taken += amount;
      return true;
    },
    release(key, amount) {
      taken -= amount;
      const left = takenBy(key) - amount;
      if (left > 0) amounts.set(key, left);
      else amounts.delete(key);
    },
  };
}

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
