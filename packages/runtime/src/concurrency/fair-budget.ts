/** An amount of something that accounts share: requests in flight, bytes, waiters. */
export interface FairBudget {
  readonly max: number;
  /** How much is taken now, by all. */
  readonly taken: number;
  /** How much an account holds now. */
  heldBy(accountId: number): number;
  /** Whether `take` would succeed. */
  hasRoom(accountId: number, amount: number): boolean;
  /** Takes an amount for an account. @returns false when its share does not allow it; then nothing is taken. */
  take(accountId: number, amount: number): boolean;
  /** Gives back what was taken. */
  give(accountId: number, amount: number): void;
}

/**
 * Shares a budget by dynamic thresholds (Choudhury and Hahne, 1998): an account may hold at most as much as is still free. One account
 * alone gets half, two get a third each, and whatever they do there is room for the next one.
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
    give(accountId, amount) {
      taken -= amount;
      const left = heldBy(accountId) - amount;
      if (left > 0) held.set(accountId, left);
      else held.delete(accountId);
    },
  };
}
