/** Requests per window. Whole seconds, as in the `RateLimit` headers. */
export interface RateLimit {
  requests: number;
  seconds: number;
}

/** The setting of one account: its own limit, none, or null for the default from `RATE_LIMIT`. */
export type AccountRateLimit = RateLimit | 'none' | null;

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 };
// The limit of Node's timers.
const MAX_SECONDS = 24 * UNITS.d;

/**
 * Parses `100/1s` or `6000/1m`: up to 999,999,999 requests in up to 24 days.
 *
 * @throws {Error} if the text is not a rate.
 */
export function parseRateLimit(text: string): RateLimit {
  const [, requests, count, unit] = /^(\d{1,9})\/(\d{1,7})([smhd])$/.exec(text) ?? [];
  const limit = { requests: Number(requests), seconds: Number(count) * UNITS[unit as keyof typeof UNITS] };
  if (!(limit.requests >= 1 && limit.seconds >= 1 && limit.seconds <= MAX_SECONDS)) throw new Error('not a rate');
  return limit;
}

/**
 * Parses the setting of an account: a rate, `none` or `default`.
 *
 * @throws {Error} if the text is none of these.
 */
export function parseAccountRateLimit(text: string): AccountRateLimit {
  if (text === 'none') return 'none';
  return text === 'default' ? null : parseRateLimit(text);
}

/** The inverse of `parseAccountRateLimit`. */
export function formatAccountRateLimit(limit: AccountRateLimit): string {
  if (limit === null) return 'default';
  return limit === 'none' ? 'none' : formatRateLimit(limit);
}

/** The inverse of `parseRateLimit`, in the largest unit that fits. */
function formatRateLimit({ requests, seconds }: RateLimit): string {
  const [unit, length] = Object.entries(UNITS).findLast(([, length]) => seconds % length === 0) ?? ['s', 1];
  return `${requests}/${seconds / length}${unit}`;
}
