const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];

/** Delays after the first, second, … failed attempt, in milliseconds, as https://www.standardwebhooks.com recommends them. */
const RETRY_DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

/** Share of a delay by which it varies, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/**
 * The delay after a failed attempt, in milliseconds: that of the schedule, varied by a tenth. After the ninth failure it is always the last
 * one.
 *
 * @param attempts that have failed, at least 1.
 * @param random from 0 to 1.
 */
export function retryDelay(attempts: number, random: number): number {
  const delay = RETRY_DELAYS_MS[Math.min(attempts, RETRY_DELAYS_MS.length) - 1] as number;
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}
