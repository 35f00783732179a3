/**
 * Exponential backoff with equal jitter: half of the delay is fixed, half is random, so that failures do not retry in step. Times in
 * milliseconds.
 *
 * @param doublings how often the base has doubled so far; the cap limits the result.
 * @returns whole milliseconds until the next attempt, as BullMQ on Postgres accepts no fractions.
 */
export function backoff(doublings: number, { base, cap }: { base: number; cap: number }): number {
  const ceiling = Math.min(cap, base * 2 ** doublings);
  return Math.ceil(ceiling / 2 + (Math.random() * ceiling) / 2);
}
