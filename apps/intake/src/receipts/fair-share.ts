import type { Lane } from '@orders/queue/wake-up.ts';

/** Max orders per account and second, at one intake, in the prompt lane: less than a hundredth of the service's capacity. */
const FAIR_SHARE = 50;
const WINDOW_MS = 1000;
/** A long order counts as one for each started 16 KiB. */
const BYTES_PER_ORDER = 16 * 1024;

/** Picks the lane for orders that an account sends together, and counts them against its fair share. */
export type FairShare = (accountId: number, bodies: readonly Buffer[]) => Lane;

/**
 * Counts orders in windows of one second. An account uses the bulk lane if it is above its share in this window or was in the previous one.
 * No order is rejected for this.
 */
export function createFairShare(): FairShare {
  let counts = new Map<number, number>();
  let previousCounts = counts;
  let endsAt = 0;

  return (accountId, bodies) => {
    const now = performance.now();
    if (now >= endsAt) {
      // The previous window ended just now, unless no order came for a whole window.
      previousCounts = now < endsAt + WINDOW_MS ? counts : new Map();
      counts = new Map();
      endsAt = now + WINDOW_MS;
    }
    const cost = bodies.reduce((sum, { length }) => sum + Math.max(1, Math.ceil(length / BYTES_PER_ORDER)), 0);
    const count = (counts.get(accountId) ?? 0) + cost;
    counts.set(accountId, count);
    return count > FAIR_SHARE || (previousCounts.get(accountId) ?? 0) > FAIR_SHARE ? 'bulk' : 'prompt';
  };
}
