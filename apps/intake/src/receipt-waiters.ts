import { setTimeout as sleep } from 'node:timers/promises';
import type { FinalReceipt } from '@orders/database';
import type { ReceiptReader } from './receipt-reader.ts';

export interface ReceiptWaiters {
  /**
   * Waits until a receipt is in a final state, at most `ms` milliseconds. Ends early, with null, when `signal` fires, when too many
   * wait already, on a drain, or when Postgres cannot be asked.
   */
  wait(receiptId: string, ms: number, signal: AbortSignal): Promise<FinalReceipt | null>;
  /** Sends everybody home; later waits end at once. */
  release(): void;
}

const TICK_MS = 50;
const MAX_WAITERS = 1000;

/** All waiters of a process share one query a tick; with nobody waiting nothing is asked. */
export function createReceiptWaiters(reader: ReceiptReader): ReceiptWaiters {
  const waiters = new Map<string, Set<(receipt: FinalReceipt | null) => void>>();
  let count = 0;
  let asking = false;
  let released = false;

  async function ask(): Promise<void> {
    if (asking) return;
    asking = true;
    while (waiters.size > 0) {
      await sleep(TICK_MS);
      try {
        for (const receipt of await reader.findFinal([...waiters.keys()])) tell(receipt.receipt_id, receipt);
      } catch {
        for (const receiptId of waiters.keys()) tell(receiptId, null);
      }
    }
    asking = false;
  }

  function tell(receiptId: string, receipt: FinalReceipt | null): void {
    for (const resolve of waiters.get(receiptId) ?? []) resolve(receipt);
  }

  return {
    wait(receiptId, ms, signal) {
      if (released || ms <= 0 || count >= MAX_WAITERS || signal.aborted) return Promise.resolve(null);
      return new Promise((resolve) => {
        const done = (receipt: FinalReceipt | null) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          const others = waiters.get(receiptId);
          others?.delete(done);
          if (others?.size === 0) waiters.delete(receiptId);
          count -= 1;
          resolve(receipt);
        };
        const giveUp = () => done(null);
        const timer = setTimeout(giveUp, ms);
        signal.addEventListener('abort', giveUp);
        waiters.set(receiptId, (waiters.get(receiptId) ?? new Set()).add(done));
        count += 1;
        void ask();
      });
    },
    release() {
      released = true;
      for (const receiptId of waiters.keys()) tell(receiptId, null);
    },
  };
}
