import type { Query } from '../../api/client.ts';
import type { ReviewState } from '../../api/review.ts';

export const STATES = ['needs_review', 'confirmed', 'rejected'] as const satisfies readonly ReviewState[];
export const CHANNELS = ['rest', 'webhook'] as const;
export const EMIRATE_CODES = ['AE-AZ', 'AE-AJ', 'AE-DU', 'AE-FU', 'AE-RK', 'AE-SH', 'AE-UQ'] as const;
export const AGES = ['hour', 'today', 'over-1h', 'over-4h', 'over-1d'] as const;

const HOUR = 3_600_000;

/** An empty string means no filter. */
export interface Filters {
  state: ReviewState;
  q: string;
  channel: string;
  emirate: string;
  warnings: string;
  age: string;
}

/** Reads the filters from the URL's query; unknown values are ignored. */
export function readFilters(search: string): Filters {
  const params = new URLSearchParams(search);
  const oneOf = (name: string, values: readonly string[]) => values.find((value) => value === params.get(name)) ?? '';
  return {
    state: STATES.find((state) => state === params.get('state')) ?? 'needs_review',
    q: params.get('q') ?? '',
    channel: oneOf('channel', CHANNELS),
    emirate: oneOf('emirate', [...EMIRATE_CODES, 'none']),
    warnings: oneOf('warnings', ['yes', 'no']),
    age: oneOf('age', AGES),
  };
}

/** The filters as a query string with its `?`, or an empty string. */
export function writeFilters({ state, ...others }: Filters): string {
  const params = new URLSearchParams();
  if (state !== 'needs_review') params.set('state', state);
  for (const [name, value] of Object.entries(others)) if (value !== '') params.set(name, value);
  return params.size > 0 ? `?${params}` : '';
}

/** Whether any filter but the state is set. */
export function isNarrowed({ state: _, ...others }: Filters): boolean {
  return Object.values(others).some((value) => value !== '');
}

/** The filters as query parameters of the API, with ages relative to `now`. */
export function toQuery({ age, warnings, ...others }: Filters, now = Date.now()): Query {
  const severity = warnings === '' ? '' : warnings === 'no' ? 'none' : 'check';
  return { ...others, severity, ...ageBounds(age, now) };
}

function ageBounds(age: string, now: number): Query {
  const before = (hours: number) => new Date(now - hours * HOUR).toISOString();
  switch (age) {
    case 'hour':
      return { written_after: before(1) };
    case 'today':
      return { written_after: new Date(new Date(now).setHours(0, 0, 0, 0)).toISOString() };
    case 'over-1h':
      return { written_before: before(1) };
    case 'over-4h':
      return { written_before: before(4) };
    case 'over-1d':
      return { written_before: before(24) };
    default:
      return {};
  }
}

/** Whether new orders can match the filters. */
export function awaitsNewOrders({ state, age }: Filters): boolean {
  return state === 'needs_review' && !age.startsWith('over-');
}
