import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls until `probe` returns a truthy value, and returns that value.
 *
 * @param options `seconds` is the timeout; `signal` ends it earlier.
 * @throws {Error} with `what`, after the timeout.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false | null>,
  { seconds = 90, everyMs = 20, signal }: { seconds?: number; everyMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  for (const startedAt = Date.now(); Date.now() - startedAt < seconds * 1000; ) {
    const value = await probe();
    if (value) return value;
    await sleep(everyMs, undefined, { signal });
  }
  throw new Error(`waited ${seconds} s for: ${what}`);
}
