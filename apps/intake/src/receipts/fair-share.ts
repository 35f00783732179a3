import type { Lane } from '@orders/queue';

/** Max orders per account and second, at one intake, in the prompt lane: less than a hundredth of the service's capacity. */
const FAIR_SHARE = 50;
const WINDOW_MS = 1000;
/** A longer order counts as several: each started 16 KiB counts as one. */
const BYTES_OF_ORDER = 16 * 1024;

/** Picks the lane for orders that an account sends together, and counts them against its fair share. */
export type FairShare = (accountId: number, bodies: readonly Buffer[]) => Lane;

/**
 * An account above its share, in orders or bytes, uses the bulk lane until it has stayed within its share for a whole second. No order
 * is rejected for this.
 */
export function createFairShare(): FairShare {
  let counts = new Map<number, number>();
  let previousCounts = counts;
  let endsAt = 0;

  return (accountId, bodies) => {
    const now = performance.now();
    if (now >= endsAt) {
      previousCounts = now < endsAt + WINDOW_MS ? counts : new Map();
      counts = new Map();
      endsAt = now + WINDOW_MS;
    }
    const cost = bodies.reduce((sum, { length }) => sum + Math.max(1, Math.ceil(length / BYTES_OF_ORDER)), 0);
    const count = (counts.get(accountId) ?? 0) + cost;
    counts.set(accountId, count);
    return count > FAIR_SHARE || (previousCounts.get(accountId) ?? 0) > FAIR_SHARE ? 'bulk' : 'prompt';
  };
}
