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

/**
 * Sends requests by `isInForce` until it returns true. For rules that must apply to requests some time after a change.
 *
 * @returns when the last request was sent to which the rule did not apply, in milliseconds since 1970, or 0.
 */
export async function lastSentBefore(what: string, isInForce: () => Promise<boolean>): Promise<number> {
  let lastAt = 0;
  await until(what, async () => {
    const sentAt = Date.now();
    const applies = await isInForce();
    if (!applies) lastAt = sentAt;
    return applies;
  });
  return lastAt;
}
