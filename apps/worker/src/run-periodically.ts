import { setTimeout as sleep } from 'node:timers/promises';

/** Work that is done again and again until stopped. */
export interface PeriodicRun {
  /** Ends it once the run under way is over. */
  stop(): Promise<void>;
}

/**
 * Runs `work` at once and then every `intervalMs` milliseconds, counted from the end of each run; an error is reported and does not end it.
 *
 * @param work ends early when the signal fires.
 */
export function runPeriodically(
  work: (stopping: AbortSignal) => Promise<void>,
  intervalMs: number,
  onError: (error: unknown) => void,
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
