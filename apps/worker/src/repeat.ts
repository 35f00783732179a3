import { setTimeout as sleep } from 'node:timers/promises';

/** Something done again and again until stopped. */
export interface Repetition {
  /** Ends it once the turn under way is over. */
  stop(): Promise<void>;
}

/**
 * Does `turn` at once and then every `intervalMs` milliseconds, counted from the end of each; an error is reported and does not end it.
 *
 * @param turn a long one heeds the signal that it is to end.
 */
export function repeat(
  turn: (stopping: AbortSignal) => Promise<void>,
  intervalMs: number,
  onError: (error: unknown) => void,
): Repetition {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await turn(stopping.signal).catch(onError);
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
