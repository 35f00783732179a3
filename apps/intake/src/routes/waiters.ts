import { setTimeout as sleep } from 'node:timers/promises';
import { createFairBudget } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { Response } from 'express';
import { senderOf } from '../request-context.ts';

/** How a wait ended by itself: with a result, or with null because the time was up. */
export interface Waited<Result> {
  result: Result | null;
}

/** Requests that wait for something in Postgres, each by a key. */
export interface Waiters<Result> {
  /**
   * Waits until there is a result for the key, at most `ms` milliseconds.
   *
   * @returns null if the wait did not start or was cut short: the account has its maximum of waiters, `signal` fired, a drain started, or
   * Postgres failed.
   */
  wait(accountId: number, key: string, ms: number, signal: AbortSignal): Promise<Waited<Result> | null>;
  /** Ends all waits; later ones end at once. */
  release(): void;
}

const POLL_INTERVAL_MS = 50;
const MAX_WAITERS = 1000;

/**
 * All waiters share one query per interval; without waiters there is none.
 *
 * @param find returns the keys that have a result, with the result.
 */
export function createWaiters<Result>(
  find: (keys: readonly string[]) => Promise<Iterable<readonly [key: string, Result]>>,
): Waiters<Result> {
  const waiters = new Map<string, Set<(waited: Waited<Result> | null) => void>>();
  const budget = createFairBudget(MAX_WAITERS);
  let isPolling = false;
  let isReleased = false;

  async function poll(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    while (waiters.size > 0) {
      await sleep(POLL_INTERVAL_MS);
      try {
        for (const [key, result] of await find([...waiters.keys()])) end(key, { result });
      } catch {
        endAll();
      }
    }
    isPolling = false;
  }

  function end(key: string, waited: Waited<Result> | null): void {
    for (const done of waiters.get(key) ?? []) done(waited);
  }

  function endAll(): void {
    for (const key of waiters.keys()) end(key, null);
  }

  return {
    wait(accountId, key, ms, signal) {
      if (isReleased || signal.aborted || !budget.take(accountId, 1)) return Promise.resolve(null);
      return new Promise((resolve) => {
        const done = (waited: Waited<Result> | null) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          const others = waiters.get(key);
          others?.delete(done);
          if (others?.size === 0) waiters.delete(key);
          budget.release(accountId, 1);
          resolve(waited);
        };
        const abort = () => done(null);
        const timer = setTimeout(() => done({ result: null }), ms);
        signal.addEventListener('abort', abort);
        waiters.set(key, (waiters.get(key) ?? new Set()).add(done));
        void poll();
      });
    },
    release() {
      isReleased = true;
      endAll();
    },
  };
}

/** Waits like `Waiters.wait`, at most `seconds`, and no longer than the client is connected. */
export async function waitFor<Result>(
  waiters: Waiters<Result>,
  response: Response,
  key: string,
  seconds: number,
): Promise<Waited<Result> | null> {
  const disconnected = new AbortController();
  const abort = () => disconnected.abort();
  response.once('close', abort);
  try {
    return await waiters.wait(senderOf(response.req).accountId, key, seconds * 1000, disconnected.signal);
  } finally {
    response.off('close', abort);
  }
}
