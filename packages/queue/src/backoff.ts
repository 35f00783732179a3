/**
 * Exponential backoff with jitter: the base, doubling with each failure up to the cap, of which the second half is left to chance so
 * that what failed together does not come back together. Times in milliseconds.
 *
 * @param doublings how often the base has doubled by now.
 * @returns whole milliseconds until the next attempt; BullMQ on Postgres takes no others.
 */
export function backoff(doublings: number, { base, cap }: { base: number; cap: number }): number {
  const ceiling = Math.min(cap, base * 2 ** doublings);
  return Math.ceil(ceiling / 2 + (Math.random() * ceiling) / 2);
}
