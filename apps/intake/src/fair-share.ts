import type { Lane } from '@orders/queue';

/** Orders of one account in one second, at one intake, that go by the prompt lane: less than a hundredth of what the service can take. */
const FAIR_SHARE = 50;
const WINDOW_MS = 1000;

/**
 * Tells by which lane the next order of an account goes, or all that it sends together, and counts them. An account that sends more than
 * its share goes by the bulk lane from there on until it has kept to its share for a whole second; no order is refused for it.
 */
export function createFairShare(): (accountId: number, orders?: number) => Lane {
  let counts = new Map<number, number>();
  let countsBefore = counts;
  let endsAt = 0;

  return (accountId, orders = 1) => {
    const now = performance.now();
    if (now >= endsAt) {
      countsBefore = now < endsAt + WINDOW_MS ? counts : new Map();
      counts = new Map();
      endsAt = now + WINDOW_MS;
    }
    const count = (counts.get(accountId) ?? 0) + orders;
    counts.set(accountId, count);
    return count > FAIR_SHARE || (countsBefore.get(accountId) ?? 0) > FAIR_SHARE ? 'bulk' : 'prompt';
  };
}
