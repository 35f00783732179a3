import { setTimeout as sleep } from 'node:timers/promises';

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
