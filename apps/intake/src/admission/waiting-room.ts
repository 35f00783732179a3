import type { FairBudget } from '@orders/runtime';

/** Max wait for a slot before 503. Rejecting instantly makes senders retry instantly, and the rejections then starve admitted requests. */
const MAX_WAIT_MS = 20;
const POLL_INTERVAL_MS = 10;
/** Max requests waiting for a slot, for each slot there is: their bodies take memory too. */
const MAX_WAITING_PER_SLOT = 2;

interface Waiting {
  accountId: number;
  since: number;
  resolve: (hasRoom: boolean) => void;
}

/** Requests that wait for a slot, in the order in which they came as far as the shares of their accounts allow. */
export function createWaitingRoom(slots: FairBudget): { wait(accountId: number): Promise<boolean> } {
  let waiting: Waiting[] = [];
  let isPolling = false;

  function poll(): void {
    const now = performance.now();
    // Those that get room take it later in this turn, so they count against those behind them.
    const granted = new Map<number, number>();
    let total = 0;
    waiting = waiting.filter(({ accountId, since, resolve }) => {
      const own = granted.get(accountId) ?? 0;
      if (slots.hasRoom(accountId, own + total + 1)) {
        granted.set(accountId, own + 1);
        total += 1;
        resolve(true);
        return false;
      }
      if (now - since < MAX_WAIT_MS) return true;
      resolve(false);
      return false;
    });
    isPolling = waiting.length > 0;
    if (isPolling) setTimeout(poll, POLL_INTERVAL_MS);
  }

  return {
    wait(accountId) {
      if (slots.hasRoom(accountId, 1)) return Promise.resolve(true);
      if (waiting.length >= MAX_WAITING_PER_SLOT * slots.max) return Promise.resolve(false);
      return new Promise((resolve) => {
        waiting.push({ accountId, since: performance.now(), resolve });
        if (isPolling) return;
        isPolling = true;
        setTimeout(poll, POLL_INTERVAL_MS);
      });
    },
  };
}
