/** So many requests in a window of so many seconds, whole ones: the `RateLimit` headers know no parts of a second. */
export interface RateLimit {
  requests: number;
  seconds: number;
}

/** What is set for one account: a limit of its own, or that it has none; null: the general one, `RATE_LIMIT`, if there is one. */
export type AccountRateLimit = RateLimit | 'none' | null;

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 };
// A timer of Node holds no more than 24 days.
const MAX_SECONDS = 24 * UNITS.d;

/**
 * Reads `100/1s`, `6000/1m`: up to 999,999,999 requests in up to 24 days.
 *
 * @throws {Error} when the text is no such rate.
 */
export function parseRateLimit(text: string): RateLimit {
  const [, requests, count, unit] = /^(\d{1,9})\/(\d{1,7})([smhd])$/.exec(text) ?? [];
  const limit = { requests: Number(requests), seconds: Number(count) * UNITS[unit as keyof typeof UNITS] };
  if (!(limit.requests >= 1 && limit.seconds >= 1 && limit.seconds <= MAX_SECONDS)) throw new Error('not a rate');
  return limit;
}

/**
 * Reads what is set for an account: a rate, `none`, or `default`.
 *
 * @throws {Error} when the text is none of these.
 */
export function parseAccountRateLimit(text: string): AccountRateLimit {
  if (text === 'none') return 'none';
  return text === 'default' ? null : parseRateLimit(text);
}

/** Writes what `parseAccountRateLimit` reads. */
export function formatAccountRateLimit(limit: AccountRateLimit): string {
  if (limit === null) return 'default';
  return limit === 'none' ? 'none' : formatRateLimit(limit);
}

/** Writes what `parseRateLimit` reads, in the largest unit that fits. */
function formatRateLimit({ requests, seconds }: RateLimit): string {
  const [unit, length] = Object.entries(UNITS).findLast(([, length]) => seconds % length === 0) ?? ['s', 1];
  return `${requests}/${seconds / length}${unit}`;
}
