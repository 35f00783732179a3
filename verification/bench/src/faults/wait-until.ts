import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS = 100;

/** Waits until a condition holds or a time, in Unix milliseconds. @returns whether it holds. */
export async function waitUntil(isTrue: () => Promise<boolean> | boolean, deadline: number): Promise<boolean> {
  for (;;) {
    const holds = await isTrue();
    if (holds || Date.now() >= deadline) return holds;
    await sleep(POLL_INTERVAL_MS);
  }
}
