import { Problem } from '@orders/domain';
import { UsageError } from '../errors.ts';

/** Simulated rejections, to test a sender's retries. */
export interface SimulatedFailures {
  /** The problem for the next delivery; null to accept it. */
  next(): Problem | null;
}

const PROBLEMS: Record<string, () => Problem> = {
  429: () =>
    new Problem('rate_limited', {
      headers: { 'Retry-After': '1', 'RateLimit-Policy': '"account";q=1;w=1', RateLimit: '"account";r=0;t=1' },
    }),
  500: () => new Problem('internal_error'),
  503: () => new Problem('overloaded'),
};
const MAX_FAILURES = 10_000;

/**
 * Reads `--fail`: `503` refuses the first delivery, `503x3` the first three, `503,429` the first two in turn, `503/3` every third.
 *
 * @throws {UsageError}
 */
export function parseFailures(text: string): SimulatedFailures {
  const [, everyNth, nth] = /^(429|500|503)\/(\d{1,5})$/.exec(text) ?? [];
  if (everyNth) return failEvery(everyNth, atLeast(2, Number(nth)));
  const statuses = text.split(',').flatMap((part) => {
    const [, status, times = '1'] = /^ *(429|500|503)(?:x(\d{1,5}))? *$/.exec(part) ?? [];
    if (!status) throw usageError();
    return Array<string>(Math.min(MAX_FAILURES, atLeast(1, Number(times)))).fill(status);
  });
  return { next: () => problemOf(statuses.shift()) };
}

/** Rejects nothing. */
export const NO_FAILURES: SimulatedFailures = { next: () => null };

function failEvery(status: string, nth: number): SimulatedFailures {
  let count = 0;
  return { next: () => problemOf(++count % nth === 0 ? status : undefined) };
}

function problemOf(status: string | undefined): Problem | null {
  return (status && PROBLEMS[status]?.()) || null;
}

function atLeast(min: number, value: number): number {
  if (value < min) throw usageError();
  return value;
}

function usageError(): UsageError {
  return new UsageError(
    '--fail takes 429, 500 or 503 for the first delivery, 503x3 for the first three, 503,429 in turn, or 503/3 for every third.',
  );
}
