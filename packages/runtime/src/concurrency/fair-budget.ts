/** A budget that accounts, or other keys, share, such as requests in flight, bytes or waiters. */
export interface FairBudget<Key = number> {
  readonly max: number;
  /** Taken by all keys. */
  readonly taken: number;
  takenBy(key: Key): number;
  /** Whether `take` would succeed. */
  hasRoom(key: Key, amount: number): boolean;
  /** @returns false, and takes nothing, when it would exceed the key's share. */
  take(key: Key, amount: number): boolean;
  release(key: Key, amount: number): void;
}

/**
 * Shares a budget by dynamic thresholds (Choudhury and Hahne, 1998): a key, such as an account, may hold at most as much as is free. A
 * single key gets half, two get a third each, and there is always room for another key.
 */
export function createFairBudget<Key = number>(max: number): FairBudget<Key> {
  const amounts = new Map<Key, number>();
  let taken = 0;
  const takenBy = (key: Key) => amounts.get(key) ?? 0;
  const hasRoom = (key: Key, amount: number) => takenBy(key) + amount <= max - taken;

  return {
    max,
    get taken() {
      return taken;
    },
    takenBy,
    hasRoom,
    take(key, amount) {
      if (!hasRoom(key, amount)) return false;
      amounts.set(key, takenBy(key) + amount);
      taken += amount;
      return true;
    },
    release(key, amount) {
      taken -= amount;
      const left = takenBy(key) - amount;
      if (left > 0) amounts.set(key, left);
      else amounts.delete(key);
    },
  };
}
