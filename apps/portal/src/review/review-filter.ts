import type { Database } from '@orders/database/connect.ts';
import { SEARCH_TERMS } from '@orders/database/orders/update-search-terms.ts';
import { run } from '@orders/database/run.ts';
import type { Channel, ReviewState } from '@orders/domain/receipt-states.ts';
import type { Severity } from '@orders/domain/severity.ts';
import { queryForFacets, queryForSearchTerms } from './search-query.ts';

/** What the list shows a badge for: how an order is paid, a pickup, a test. */
export const MARKS = ['paid', 'unpaid', 'cash_on_delivery', 'refunded', 'pickup', 'test'] as const;
export type Mark = (typeof MARKS)[number];

/** Filter of an account's list of orders; null matches all. */
export interface ReviewFilter {
  accountId: number;
  state: ReviewState;
  /** As typed: each term is a prefix of a word of the order, or a phone number or its end. */
  searchTerms: string | null;
  channel: Channel | null;
  /** A code of ISO 3166-2, or `none` for orders without one. */
  emirate: string | null;
  severity: Severity | null;
  mark: Mark | null;
  /** The number of the source that sent the order. */
  source: number | null;
  /** When the order was written: from `writtenAfter`, inclusive, to `writtenBefore`, exclusive. */
  writtenAfter: Date | null;
  writtenBefore: Date | null;
}

/** Above every order id. */
export const ANY_ID = Number.MAX_SAFE_INTEGER;

/** SQL: orders of account $1 in a state, with ids below $2 and at least $3. The state is a literal, as its index is partial. */
export const inState = (state: ReviewState) =>
  `account_id = $1::int and review_state = '${state}' and order_id < $2::bigint and order_id >= $3::bigint`;

export const WRITTEN = `
  ($4::timestamptz is null or written_at >= $4::timestamptz) and ($5::timestamptz is null or written_at < $5::timestamptz)`;

/**
 * SQL: the orders of account $1 that are snoozed. Only orders that need review are: a decision ends a snooze. As a subquery that depends on
 * no order, it is read once.
 */
export const SNOOZED = 'select order_id from order_snoozes where account_id = $1::int and until > now()';

/**
 * Conditions on `orders o`, cheap ones first: computing the search terms of an order takes some 50 to 100 microseconds. A
 * search also finds what is snoozed, as the customer may call.
 */
export const MATCHES = `${WRITTEN}
  and ($6::text is null or channel = $6::text) and ($7::text is null or coalesce(emirate_code, 'none') = $7::text)
  and ($8::text is null or severity = $8::text) and ($9::int is null or source_number = $9::int)
  and ($11::text is null or case $11::text when 'test' then is_test when 'pickup' then delivery_method = 'pickup'
                            else payment_state = $11::text end)
  and ($10::tsquery is not null or o.order_id not in (${SNOOZED}))
  and ($10::tsquery is null or ${SEARCH_TERMS} @@ $10::tsquery)`;

export interface PreparedFilter {
  filter: ReviewFilter;
  /** The `tsquery` for `filter.searchTerms`. */
  searchQuery: string | null;
  /** The `tsquery` for the search index, with the other conditions; null when the index cannot help. */
  indexQuery: string | null;
}

const FOLD = { name: 'fold-search-terms', text: 'select without_articles(fold_letters($1::text)) as folded' };

export async function prepareFilter(database: Database, filter: ReviewFilter): Promise<PreparedFilter> {
  const { accountId, state, searchTerms } = filter;
  const [row] = searchTerms === null ? [] : await run<{ folded: string }>(database, FOLD, [searchTerms]);
  const searchQuery = queryForSearchTerms(accountId, row?.folded ?? '');
  const facets = queryForFacets(accountId, filter);
  const indexQuery = searchQuery && facets ? `${searchQuery} & ${facets}` : (searchQuery ?? facets);
  return { filter, searchQuery, indexQuery: state === 'needs_review' ? indexQuery : null };
}

/** The parameters $1 to $11 of `inState` and `MATCHES`. */
export function parametersOf({ filter, searchQuery }: PreparedFilter, below: number, floor: number): unknown[] {
  const { accountId, writtenAfter, writtenBefore, channel, emirate, severity, source, mark } = filter;
  return [accountId, below, floor, writtenAfter, writtenBefore, channel, emirate, severity, source, searchQuery, mark];
}
