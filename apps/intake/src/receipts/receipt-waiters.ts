import { setTimeout as sleep } from 'node:timers/promises';
import type { FinalReceipt } from '@orders/database';
import { createFairBudget } from '@orders/runtime';
import type { ReceiptReader } from './receipt-reader.ts';

/** The result of a wait that was not cut short. */
export interface Waited {
  /** The receipt in its final state; null if the wait timed out. */
  final: FinalReceipt | null;
}

export interface ReceiptWaiters {
  /**
   * Waits until a receipt is in a final state, at most `ms` milliseconds.
   *
   * @returns null if the wait did not start or was cut short: the account has its maximum of waiters, `signal` fired, a drain started, or
   * Postgres failed.
   */
  wait(accountId: number, receiptId: string, ms: number, signal: AbortSignal): Promise<Waited | null>;
  /** Ends all waits; later ones end at once. */
  release(): void;
}

const POLL_INTERVAL_MS = 50;
const MAX_WAITERS = 1000;

/** All waiters of a process share one query per interval; without waiters there is none. */
export function createReceiptWaiters(reader: ReceiptReader): ReceiptWaiters {
  const waiters = new Map<string, Set<(waited: Waited | null) => void>>();
  const budget = createFairBudget(MAX_WAITERS);
  let isPolling = false;
  let isReleased = false;

  async function poll(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    while (waiters.size > 0) {
      await sleep(POLL_INTERVAL_MS);
      try {
        for (const final of await reader.findFinal([...waiters.keys()])) end(final.receipt_id, { final });
      } catch {
        endAll();
      }
    }
    isPolling = false;
  }

  function end(receiptId: string, waited: Waited | null): void {
    for (const done of waiters.get(receiptId) ?? []) done(waited);
  }

  function endAll(): void {
    for (const receiptId of waiters.keys()) end(receiptId, null);
  }

  return {
    wait(accountId, receiptId, ms, signal) {
      if (isReleased || signal.aborted || !budget.take(accountId, 1)) return Promise.resolve(null);
      return new Promise((resolve) => {
        const done = (waited: Waited | null) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          const others = waiters.get(receiptId);
          others?.delete(done);
          if (others?.size === 0) waiters.delete(receiptId);
          budget.release(accountId, 1);
          resolve(waited);
        };
        const abort = () => done(null);
        const timer = setTimeout(() => done({ final: null }), ms);
        signal.addEventListener('abort', abort);
        waiters.set(receiptId, (waiters.get(receiptId) ?? new Set()).add(done));
        void poll();
      });
    },
    release() {
      isReleased = true;
      endAll();
    },
  };
}
