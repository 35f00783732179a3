import type { FairBudget } from '@orders/runtime/concurrency/fair-sharing.ts';

const POLL_INTERVAL_MS = 10;

interface Waiting {
  accountId: number;
  amount: number;
  since: number;
  resolve: (hasRoom: boolean) => void;
}

/** Requests that wait for room in a budget: first come, first served, as far as the shares of their accounts allow. */
export interface WaitingRoom {
  /** @returns whether there is room for the amount now; the caller must take it in the same iteration of the event loop. */
  wait(accountId: number, amount: number): Promise<boolean>;
}

/**
 * Creates the waiting room of a budget.
 *
 * @param limits `maxWaitMs`: max wait in milliseconds; `maxWaiting`: max waiting requests.
 */
export function createWaitingRoom(
  budget: FairBudget,
  { maxWaitMs, maxWaiting }: { maxWaitMs: number; maxWaiting: number },
): WaitingRoom {
  let waiting: Waiting[] = [];
  let isPolling = false;

  function poll(): void {
    const now = performance.now();
    // Requests take what this poll grants only after it, so it is added here: `granted` is no longer free, and `own` of it is held by the
    // account already.
    const grantedByAccount = new Map<number, number>();
    let granted = 0;
    waiting = waiting.filter(({ accountId, amount, since, resolve }) => {
      const own = grantedByAccount.get(accountId) ?? 0;
      if (budget.hasRoom(accountId, own + granted + amount)) {
        grantedByAccount.set(accountId, own + amount);
        granted += amount;
        resolve(true);
        return false;
      }
      if (now - since < maxWaitMs) return true;
      resolve(false);
      return false;
    });
    isPolling = waiting.length > 0;
    if (isPolling) setTimeout(poll, POLL_INTERVAL_MS);
  }

  return {
    wait(accountId, amount) {
      if (budget.hasRoom(accountId, amount)) return Promise.resolve(true);
      if (waiting.length >= maxWaiting) return Promise.resolve(false);
      return new Promise((resolve) => {
        waiting.push({ accountId, amount, since: performance.now(), resolve });
        if (isPolling) return;
        isPolling = true;
        setTimeout(poll, POLL_INTERVAL_MS);
      });
    },
  };
}
