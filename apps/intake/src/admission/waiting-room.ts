import { createFairBudget, type FairBudget } from '@orders/runtime/concurrency/fair-sharing.ts';

const POLL_INTERVAL_MS = 10;

interface Waiting {
  accountId: number;
  amount: number;
  since: number;
  resolve: (hasRoom: boolean) => void;
}

/** Requests that wait for room in a budget: first come, first served, as far as the shares of their accounts allow. */
export interface WaitingRoom {
  readonly isEmpty: boolean;
  /** Whether there is room now, and no request of the account waits for it. */
  hasRoom(accountId: number, amount: number): boolean;
  /** @returns whether there is room for the amount now; the caller must take it in the same iteration of the event loop. */
  wait(accountId: number, amount: number): Promise<boolean>;
}

/**
 * Creates the waiting room of a budget.
 *
 * @param limits `maxWaitMs`: max wait in milliseconds; `maxWaiting`: max waiting requests, which the accounts share like the budget.
 */
export function createWaitingRoom(
  budget: FairBudget,
  { maxWaitMs, maxWaiting }: { maxWaitMs: number; maxWaiting: number },
): WaitingRoom {
  const places = createFairBudget(maxWaiting);
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
      const isGranted = budget.hasRoom(accountId, own + granted + amount);
      if (!isGranted && now - since < maxWaitMs) return true;
      if (isGranted) {
        grantedByAccount.set(accountId, own + amount);
        granted += amount;
      }
      places.release(accountId, 1);
      resolve(isGranted);
      return false;
    });
    isPolling = waiting.length > 0;
    if (isPolling) setTimeout(poll, POLL_INTERVAL_MS);
  }

  const hasRoom = (accountId: number, amount: number) =>
    places.takenBy(accountId) === 0 && budget.hasRoom(accountId, amount);

  return {
    get isEmpty() {
      return places.taken === 0;
    },
    hasRoom,
    wait(accountId, amount) {
      if (hasRoom(accountId, amount)) return Promise.resolve(true);
      if (!places.take(accountId, 1)) return Promise.resolve(false);
      return new Promise((resolve) => {
        waiting.push({ accountId, amount, since: performance.now(), resolve });
        if (isPolling) return;
        isPolling = true;
        setTimeout(poll, POLL_INTERVAL_MS);
      });
    },
  };
}
