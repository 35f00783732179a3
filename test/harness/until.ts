import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again and again until there is an answer; the way to wait for what tells nobody when it happens.
 *
 * @param options `seconds` is for how long at most; `signal` ends it.
 * @throws {Error} that says for what it waited in vain.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false | null>,
  { seconds = 90, everyMs = 20, signal }: { seconds?: number; everyMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  for (const startedAt = Date.now(); Date.now() - startedAt < seconds * 1000; ) {
    const answer = await ask();
    if (answer) return answer;
    await sleep(everyMs, undefined, { signal });
  }
  throw new Error(`waited ${seconds} s for: ${what}`);
}
