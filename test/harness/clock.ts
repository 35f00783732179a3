import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';

const readRealTime = performance.now.bind(performance);
let aheadMs = 0;
let stoppedAt: number | null = null;

function setClock(change: { aheadMs?: number; stoppedAt: number | null }): void {
  ({ aheadMs = aheadMs, stoppedAt } = change);
  jest.spyOn(performance, 'now').mockImplementation(readTime);
}

function readTime(): number {
  return stoppedAt ?? readRealTime() + aheadMs;
}

/**
 * Moves the clock forward by which the apps of this process expire what they cache and refill their budgets, `performance.now()`. Timers
 * and Postgres do not follow it. It never goes back before the end of the test file, as what is cached would then be valid for longer.
 */
export async function moveClock(seconds: number): Promise<void> {
  const ms = Math.round(seconds * 1000);
  setClock(stoppedAt === null ? { aheadMs: aheadMs + ms, stoppedAt } : { stoppedAt: stoppedAt + ms });
  // lru-cache uses a time that it has read for up to a millisecond, until a timer ends.
  await sleep(2);
}

/** Stops this clock at a whole millisecond, so that sums are exact; only `moveClock` moves it then. @returns a function that lets it go on. */
export function stopClock(): () => void {
  const at = Math.ceil(readTime());
  setClock({ stoppedAt: at });
  return () => setClock({ aheadMs: (stoppedAt ?? at) - readRealTime(), stoppedAt: null });
}
