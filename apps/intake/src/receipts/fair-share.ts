import type { Lane } from '@orders/queue';

/** Orders of one account in one second, at one intake, that go by the prompt lane: less than a hundredth of what the service can take. */
const FAIR_SHARE = 50;
const WINDOW_MS = 1000;
/** A larger order takes the share of several: so many bytes, or a part of them, count as one. */
const BYTES_OF_ORDER = 16 * 1024;

/** Picks the lane for bodies that an account sends together, and counts them. */
export type FairShare = (accountId: number, bodies: readonly Buffer[]) => Lane;

/**
 * An account that sends more than its share, in orders or in bytes, uses the bulk lane until it has kept to its share for a whole second; no
 * order is refused for it.
 */
export function createFairShare(): FairShare {
  let counts = new Map<number, number>();
  let countsBefore = counts;
  let endsAt = 0;

  return (accountId, bodies) => {
    const now = performance.now();
    if (now >= endsAt) {
      countsBefore = now < endsAt + WINDOW_MS ? counts : new Map();
      counts = new Map();
      endsAt = now + WINDOW_MS;
    }
    const share = bodies.reduce((sum, { length }) => sum + Math.max(1, Math.ceil(length / BYTES_OF_ORDER)), 0);
    const count = (counts.get(accountId) ?? 0) + share;
    counts.set(accountId, count);
    return count > FAIR_SHARE || (countsBefore.get(accountId) ?? 0) > FAIR_SHARE ? 'bulk' : 'prompt';
  };
}
