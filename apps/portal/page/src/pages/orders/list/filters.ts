import { REVIEW_STATES } from '@orders/domain/receipt-states.ts';
import type { Query } from '../../../api/client.ts';
import type { ReviewState } from '../../../api/review.ts';

export const EMIRATE_CODES = ['AE-AZ', 'AE-AJ', 'AE-DU', 'AE-FU', 'AE-RK', 'AE-SH', 'AE-UQ'] as const;

/** The values of each filter; none of them is chosen with an empty string. */
export const FILTER_VALUES = {
  severity: ['blocks', 'check', 'corrected', 'none'],
  mark: ['paid', 'unpaid', 'cash_on_delivery', 'refunded', 'pickup', 'test'],
  similar: ['yes'],
  emirate: [...EMIRATE_CODES, 'none'],
  age: ['hour', 'today', 'yesterday', 'week', 'over-1h', 'over-4h', 'over-1d'],
  channel: ['rest', 'webhook'],
  /** The numbers of the account's sources, which the server knows. */
  source: [] as string[],
} as const;
export type FilterName = keyof typeof FILTER_VALUES;
export const FILTER_NAMES = Object.keys(FILTER_VALUES) as FilterName[];

/** The first is the default and has an empty value. */
export const SORTS = ['', 'oldest', 'total', 'emirate', 'severity'] as const;

/** The texts of a filter's values; those of sources are their names. */
export const VALUE_TEXTS: Record<Exclude<FilterName, 'source'>, string> = {
  severity: 'filter.severities',
  mark: 'filter.marks',
  similar: 'filter.similars',
  emirate: 'emirate',
  age: 'filter.ages',
  channel: 'common:channel',
};

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** An empty string means no filter. */
export interface Filters extends Record<FilterName, string> {
  state: ReviewState;
  q: string;
  sort: string;
}

const NO_CHOICE = { severity: '', mark: '', similar: '', emirate: '', age: '', channel: '', source: '' };
export const NO_FILTERS = { q: '', ...NO_CHOICE };

/** Reads the filters from the URL's query; unknown values are ignored. */
export function readFilters(search: string): Filters {
  const params = new URLSearchParams(search);
  const oneOf = (name: string, values: readonly string[]) => values.find((value) => value === params.get(name)) ?? '';
  return {
    state: REVIEW_STATES.find((state) => state === params.get('state')) ?? 'needs_review',
    q: params.get('q') ?? '',
    ...NO_CHOICE,
    ...Object.fromEntries(FILTER_NAMES.map((name) => [name, oneOf(name, FILTER_VALUES[name])])),
    source: /^[1-9]\d{0,9}$/.exec(params.get('source') ?? '')?.[0] ?? '',
    sort: oneOf('sort', SORTS),
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
export function isNarrowed({ state: _state, sort: _sort, ...others }: Filters): boolean {
  return Object.values(others).some((value) => value !== '');
}

/** Filters that orders of all states can have. */
export type Search = Omit<Filters, 'state' | 'sort' | 'similar'>;

/** The filters as a search in all states; null if none is set, or one that only orders that need review can have. */
export function searchOf(filters: Filters): Search | null {
  if (!isNarrowed(filters) || filters.similar !== '') return null;
  const { state: _state, sort: _sort, similar: _similar, ...search } = filters;
  return search;
}

/** The filters as query parameters of the API, with ages relative to `now`. */
export function toQuery({ age, ...others }: Search & Partial<Filters>, now = Date.now()): Query {
  return { ...others, ...ageBounds(age, now) };
}

function ageBounds(age: string, now: number): Query {
  const iso = (time: number) => new Date(time).toISOString();
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const bounds: Record<string, Query> = {
    hour: { written_after: iso(now - HOUR) },
    today: { written_after: iso(midnight) },
    yesterday: { written_after: iso(new Date(midnight - 1).setHours(0, 0, 0, 0)), written_before: iso(midnight) },
    week: { written_after: iso(now - 7 * DAY) },
    'over-1h': { written_before: iso(now - HOUR) },
    'over-4h': { written_before: iso(now - 4 * HOUR) },
    'over-1d': { written_before: iso(now - DAY) },
  };
  return bounds[age] ?? {};
}

/** Whether new orders appear at the top of the list. */
export function awaitsNewOrders({ state, age, sort }: Filters): boolean {
  return state === 'needs_review' && sort === '' && !age.startsWith('over-') && age !== 'yesterday';
}
