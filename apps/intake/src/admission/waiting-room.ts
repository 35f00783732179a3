import { createFairBudget, type FairBudget } from '@orders/runtime/concurrency/fair-sharing.ts';

const POLL_INTERVAL_MS = 10;

/** What waits, for one account. */
interface Waiter {
  accountId: number;
  amount: number;
  /** Whether its client has disconnected, so that it no longer waits. */
  isGone: () => boolean;
}

interface Waiting extends Waiter {
  since: number;
  end: (hasRoom: boolean) => void;
}

/** Requests that wait for room in a budget: first come, first served, as far as the shares of their accounts allow. */
export interface WaitingRoom {
  /** How many requests wait in turn. */
  readonly waiting: number;
  /** Whether there is room now, and no request of the account waits in turn for it. */
  hasRoom(accountId: number, amount: number): boolean;
  /** @returns whether there is room for the amount now, but others may take it first; false at once if the account has all its places. */
  waitInTurn(waiter: Waiter): Promise<boolean>;
  /**
   * Waits ahead of those, and needs no place: for requests whose bodies take memory already.
   *
   * @returns whether there is room for the amount now; the caller must take it in the same iteration of the event loop.
   */
  waitAhead(waiter: Waiter): Promise<boolean>;
}

/**
 * Creates the waiting room of a budget.
 *
 * @param limits `maxWaitMs`: max wait in milliseconds; `places`: max requests that wait in turn, which the accounts share like the budget.
 */
export function createWaitingRoom(budget: FairBudget, limits: { maxWaitMs: number; places: number }): WaitingRoom {
  const places = createFairBudget(limits.places);
  let ahead: Waiting[] = [];
  let inTurn: Waiting[] = [];
  let isPolling = false;

  function poll(): void {
    const now = performance.now();
    // Requests take what this poll grants only after it, so it is added here: `granted` is no longer free, and `own` of it is held by the
    // account already.
    const grantedByAccount = new Map<number, number>();
    let granted = 0;
    const stillWaits = ({ accountId, amount, since, isGone, end }: Waiting) => {
      const own = grantedByAccount.get(accountId) ?? 0;
      const isGranted = !isGone() && budget.hasRoom(accountId, own + granted + amount);
      if (isGranted) {
        grantedByAccount.set(accountId, own + amount);
        granted += amount;
      } else if (now - since < limits.maxWaitMs && !isGone()) return true;
      end(isGranted);
      return false;
    };
    ahead = ahead.filter(stillWaits);
    inTurn = inTurn.filter(stillWaits);
    isPolling = ahead.length + inTurn.length > 0;
    if (isPolling) setTimeout(poll, POLL_INTERVAL_MS);
  }

  function wait(waiter: Waiter, queue: Waiting[]): Promise<boolean> {
    return new Promise((end) => {
      queue.push({ ...waiter, since: performance.now(), end });
      if (isPolling) return;
      isPolling = true;
      setTimeout(poll, POLL_INTERVAL_MS);
    });
  }

  const hasRoom = (accountId: number, amount: number) =>
    places.takenBy(accountId) === 0 && budget.hasRoom(accountId, amount);

  return {
    get waiting() {
      return places.taken;
    },
    hasRoom,
    async waitInTurn(waiter) {
      const { accountId, amount } = waiter;
      if (hasRoom(accountId, amount)) return true;
      if (!places.take(accountId, 1)) return false;
      const isGranted = await wait(waiter, inTurn);
      places.release(accountId, 1);
      return isGranted;
    },
    async waitAhead(waiter) {
      return budget.hasRoom(waiter.accountId, waiter.amount) || wait(waiter, ahead);
    },
  };
}
