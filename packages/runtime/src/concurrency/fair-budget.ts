/** A budget that accounts share, such as requests in flight, bytes or waiters. */
export interface FairBudget {
  readonly max: number;
  /** Taken by all accounts. */
  readonly taken: number;
  heldBy(accountId: number): number;
  /** Whether `take` would succeed. */
  hasRoom(accountId: number, amount: number): boolean;
  /** @returns false, and takes nothing, when it would exceed the account's share. */
  take(accountId: number, amount: number): boolean;
  release(accountId: number, amount: number): void;
}

/**
 * Shares a budget by dynamic thresholds (Choudhury and Hahne, 1998): an account may hold at most as much as is free. A single account gets
 * half, two get a third each, and there is always room for another account.
 */
export function createFairBudget(max: number): FairBudget {
  const held = new Map<number, number>();
  let taken = 0;
  const heldBy = (accountId: number) => held.get(accountId) ?? 0;
  const hasRoom = (accountId: number, amount: number) => heldBy(accountId) + amount <= max - taken;

  return {
    max,
    get taken() {
      return taken;
    },
    heldBy,
    hasRoom,
    take(accountId, amount) {
      if (!hasRoom(accountId, amount)) return false;
      held.set(accountId, heldBy(accountId) + amount);
      taken += amount;
      return true;
    },
    release(accountId, amount) {
      taken -= amount;
      const left = heldBy(accountId) - amount;
      if (left > 0) held.set(accountId, left);
      else held.delete(accountId);
    },
  };
}
