/** When a receipt that failed is tried again; times in milliseconds. */
export interface RetrySchedule {
  /** Attempts in all before it is dead. */
  attempts: number;
  base: number;
  cap: number;
}

/**
 * Exponential backoff with jitter: the base, doubling with each failed attempt up to the cap, of which the second half is left to
 * chance so that receipts that failed together do not come back together.
 *
 * @param failedBefore attempts that failed before the one that just did.
 * @returns milliseconds until the next attempt.
 */
export function retryDelay(failedBefore: number, { base, cap }: RetrySchedule): number {
  const ceiling = Math.min(cap, base * 2 ** failedBefore);
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}
