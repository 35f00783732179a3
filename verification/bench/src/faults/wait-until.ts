import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS = 100;

/** How often one still asks. Counted and not timed, so that no verdict depends on a machine that stands still for a while. */
export interface Patience {
  polls: number;
}

/** Polls for about so many seconds, on a machine that is not busy. */
export const patienceOf = (seconds: number): Patience => ({ polls: (seconds * 1000) / POLL_INTERVAL_MS });

/** Waits until a condition holds or the patience ends. @returns whether it holds. */
export async function waitUntil(isTrue: () => Promise<boolean> | boolean, patience: Patience): Promise<boolean> {
  for (;;) {
    const holds = await isTrue();
    if (holds || patience.polls <= 0) return holds;
    patience.polls -= 1;
    await sleep(POLL_INTERVAL_MS);
  }
}
