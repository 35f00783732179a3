import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Exponential backoff with jitter, so that failures do not retry in step. Times in milliseconds.
 *
 * @param doublings how often the base has doubled so far; the cap limits the delay before jitter.
 * @param schedule.jitter bounds of the random factor; by default, half of the delay is fixed and half is random.
 * @returns whole milliseconds until the next attempt, as BullMQ on Postgres accepts no fractions.
 */
export function backoff(
  doublings: number,
  schedule: { base: number; cap: number; jitter?: readonly [min: number, max: number] },
): number {
  const { base, cap, jitter: [min, max] = [0.5, 1] } = schedule;
  return Math.ceil(Math.min(cap, base * 2 ** doublings) * (min + Math.random() * (max - min)));
}

export interface PeriodicRun {
  /** Waits for the current run. */
  stop(): Promise<void>;
}

/**
 * Runs `work` now and then `intervalMs` milliseconds after the end of each run. An error is reported and does not stop it.
 *
 * @param work should end early when the signal is aborted.
 */
export function runPeriodically(
  work: (stopping: AbortSignal) => Promise<void>,
  intervalMs: number,
  onError: (error: unknown) => unknown,
): PeriodicRun {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await work(stopping.signal).catch(onError);
      await sleep(intervalMs, null, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * Caches an expensive read for `everyMs` milliseconds. It reads only when called, and never runs two reads at the same time, even if one
 * hangs.
 *
 * @returns a function that returns the value, or null when the read failed or took longer than `timeoutMs` milliseconds.
 */
export function cachedRead<T>(
  read: () => Promise<T>,
  { everyMs, timeoutMs }: { everyMs: number; timeoutMs: number },
): () => Promise<T | null> {
  let cached: Promise<T | null> = Promise.resolve(null);
  let readAt = Number.NEGATIVE_INFINITY;
  let isReading = false;

  return () => {
    if (isReading || performance.now() - readAt < everyMs) return cached;
    readAt = performance.now();
    isReading = true;
    const reading = read().finally(() => {
      isReading = false;
    });
    cached = withTimeout(reading, timeoutMs);
    return cached;
  };
}

/**
 * The promise's value, or null if it is rejected or takes longer than `timeoutMs` milliseconds; a late result is ignored. The timer does not
 * keep the process alive.
 */
export async function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T | null> {
  const timeout = Promise.withResolvers<null>();
  const timer = setTimeout(() => timeout.resolve(null), timeoutMs).unref();
  return Promise.race([promise.catch(() => null), timeout.promise]).finally(() => clearTimeout(timer));
}
