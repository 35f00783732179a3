import type { Database } from '@orders/database/connect.ts';
import {
  LISTED_COLUMNS,
  type ListedOrder,
  type ListedRow,
  orderRow,
  toListed,
} from '@orders/database/orders/order-rows.ts';
import { SLACK_MS } from '@orders/database/orders/update-search-terms.ts';
import { run, type Statement } from '@orders/database/run.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import {
  ANY_ID,
  inState,
  MATCHES,
  type PreparedFilter,
  parametersOf,
  prepareFilter,
  type ReviewFilter,
  SNOOZED,
  WRITTEN,
} from './review-filter.ts';

const firstSince = (state: ReviewState): Statement => {
  const inList = `orders where account_id = $1::int and review_state = '${state}'`;
  return {
    name: `first-order-since-${state}`,
    // Binary search over ids, at most 63 steps: written_at has no index but grows with the id. With min(order_id), a plan made for an empty
    // table would read all orders.
    text: `
with recursive halves(low, high) as (
  select (select order_id from ${inList} order by order_id limit 1),
         (select order_id + 1 from ${inList} order by order_id desc limit 1)
  union all
  select case when middle.written_at < $2::timestamptz then middle.order_id + 1 else low end,
         case when middle.written_at < $2::timestamptz then high else (low + high) / 2 end
  from halves
  left join lateral (
    select order_id, written_at from ${inList} and order_id >= (low + high) / 2
    order by order_id limit 1
  ) as middle on true
  where low < high
)
select low as order_id from halves where low = high`,
  };
};

/**
 * Finds a bound in an account's list: orders with a lower id were written before `since`, the others at `since` or later. Concurrent writes
 * can be on the wrong side of it. Null if the list is empty.
 */
async function findFirstSince(
  database: Database,
  { accountId, state, since }: { accountId: number; state: ReviewState; since: Date },
): Promise<number | null> {
  const [first] = await run<{ order_id: number }>(database, firstSince(state), [accountId, since]);
  return first?.order_id ?? null;
}

/** A page of the list by age. */
export interface ReviewPage {
  orders: ListedOrder[];
  /**
   * Id after which the next page continues; null at the end of the list. Each page scans a bounded part of the list, so it can be short or
   * empty without being the last.
   */
  next: number | null;
}

/** `newest` or `oldest` first. */
export type AgeOrder = 'newest' | 'oldest';

/** Ids from `floor`, inclusive, to `below`, exclusive. */
interface Span {
  floor: number;
  below: number;
}

/** Orders per short and long scan; fewer if the filter has a search, as the terms of each order must then be computed. */
const SCAN_LENGTHS = { plain: [2000, 10_000], search: [200, 1000] } as const;
/** Max matches of the search index; more cannot be fetched and sorted in the time of a page. */
const MAX_MATCHES = 5000;

const DIRECTION = { newest: 'desc', oldest: 'asc' } as const;

const scan = (state: ReviewState, first: AgeOrder): Statement => ({
  name: `scan-${first}-orders-${state}`,
  text: `
select ${LISTED_COLUMNS} from (
  select * from orders where ${inState(state)} order by order_id ${DIRECTION[first]} limit $12::int
) as o
where ${MATCHES}
order by order_id ${DIRECTION[first]} limit $13::int`,
});

/** The first order after a scan. */
const scanEnd = (state: ReviewState, first: AgeOrder): Statement => ({
  name: `scan-end-${first}-${state}`,
  text: `select order_id from orders where ${inState(state)} order by order_id ${DIRECTION[first]} offset $4::int limit 1`,
});

/** The search index contains all orders that need review up to this id. The id only grows, so it must be read before the index. */
const MARK = {
  name: 'find-search-terms-mark',
  text: 'select filled_to from order_words_marks where account_id = $1::int',
};

const find = (first: AgeOrder): Statement => ({
  name: `find-${first}-orders-by-search-terms`,
  // The search terms contain the account. A plain condition on it would let the planner choose another index, hence `+ 0`. Orders that need
  // no review can have outdated terms.
  text: `
with found as materialized (
  select order_id from order_words where words @@ $6::tsquery and account_id + 0 = $1::int limit ${MAX_MATCHES}
)
select ${LISTED_COLUMNS}, found.matches
from (select count(*) as matches from found) as found
left join lateral (
  select o.* from (
    select order_id from found where order_id < $2::bigint and order_id >= $3::bigint order by order_id ${DIRECTION[first]}
  ) as newest
  cross join lateral (${orderRow('$1::int', 'newest.order_id')}) as o
  where o.review_state = 'needs_review' and ${WRITTEN} and ($8::boolean or o.order_id not in (${SNOOZED}))
  order by newest.order_id ${DIRECTION[first]} limit $7::int
) as o on true
order by o.order_id ${DIRECTION[first]}`,
});

/**
 * A page of the orders after the id `after`, by age, at a bounded cost: a short scan of the next orders, the search index and a long scan.
 * If the page is not full then, the next page continues. Orders that are not indexed yet are only scanned.
 */
export async function listReview(
  database: Database,
  filter: ReviewFilter,
  { after = null, limit, first = 'newest' }: { after?: number | null; limit: number; first?: AgeOrder },
): Promise<ReviewPage> {
  const { accountId, state } = filter;
  const prepared = await prepareFilter(database, filter);
  const isNewestFirst = first === 'newest';
  let span = await spanOf(database, filter);
  if (after !== null && isNewestFirst) span = { ...span, below: Math.min(after, span.below) };
  if (after !== null && !isNewestFirst) span = { ...span, floor: Math.max(after + 1, span.floor) };

  const found: ListedRow[] = [];
  const toPage = (next: number | null): ReviewPage => {
    const orders = found.slice(0, limit).map(toListed);
    return { orders, next: found.length > limit ? (orders.at(-1)?.order_id ?? null) : next };
  };
  /** @returns whether the page is full or the list at its end. */
  const scanNext = async (length: number): Promise<boolean> => {
    const values = [...parametersOf(prepared, span.below, span.floor), length, limit + 1 - found.length];
    found.push(...(await run<ListedRow>(database, scan(state, first), values)));
    if (found.length > limit) return true;
    const bounds = [accountId, span.below, span.floor, length];
    const [end] = await run<{ order_id: number }>(database, scanEnd(state, first), bounds);
    if (end) span = isNewestFirst ? { ...span, below: end.order_id + 1 } : { ...span, floor: end.order_id };
    return !end;
  };
  /** The part of the span that the search index contains completely; null if it is not where the page continues. */
  const indexedSpan = (): Span | null => {
    if (!mark) return null;
    const indexed = { ...span, below: Math.min(span.below, mark.filled_to + 1) };
    const isNext = isNewestFirst ? indexed.below === span.below : indexed.below > indexed.floor;
    return isNext ? indexed : null;
  };
  /** @returns whether the search index had few enough matches, which are then complete, and the page is full or the list at its end. */
  const findRest = async (): Promise<boolean> => {
    const indexed = indexedSpan();
    if (!indexed) return false;
    const rest = await findBySearchTerms(database, prepared, first, { ...indexed, limit: limit + 1 - found.length });
    if (!rest) return false;
    found.push(...rest);
    if (found.length > limit || indexed.below === span.below) return true;
    span = { ...span, floor: indexed.below };
    return false;
  };

  const [short, long] = SCAN_LENGTHS[prepared.searchQuery === null ? 'plain' : 'search'];
  if (await scanNext(short)) return toPage(null);
  const [mark] = prepared.indexQuery === null ? [] : await run<{ filled_to: number }>(database, MARK, [accountId]);
  // If matches stay as frequent as in the short scan, the long scan fills the page.
  const isFrequent = (found.length / short) * long >= limit - found.length;
  for (const step of isFrequent || !indexedSpan()
    ? [() => scanNext(long), findRest]
    : [findRest, () => scanNext(long)]) {
    if (await step()) return toPage(null);
  }
  return toPage(isNewestFirst ? span.below : span.floor - 1);
}

/** The ids of orders that can match the filter's times. */
export async function spanOf(
  database: Database,
  { accountId, state, writtenAfter, writtenBefore }: ReviewFilter,
): Promise<Span> {
  const firstSince = async (time: number) =>
    (await findFirstSince(database, { accountId, state, since: new Date(time) })) ?? ANY_ID;
  return {
    floor: writtenAfter ? await firstSince(writtenAfter.getTime() - SLACK_MS) : 0,
    below: writtenBefore ? await firstSince(writtenBefore.getTime() + SLACK_MS) : ANY_ID,
  };
}

/** Matches with ids in a span; null when there are too many to find the first. */
async function findBySearchTerms(
  database: Database,
  { filter, indexQuery, searchQuery }: PreparedFilter,
  first: AgeOrder,
  { below, floor, limit }: Span & { limit: number },
): Promise<ListedRow[] | null> {
  const { accountId, writtenAfter, writtenBefore } = filter;
  const values = [accountId, below, floor, writtenAfter, writtenBefore, indexQuery, limit, searchQuery !== null];
  const rows = await run<ListedRow & { matches: number }>(database, find(first), values);
  if ((rows[0]?.matches ?? 0) >= MAX_MATCHES) return null;
  return rows.filter(({ order_id }) => order_id !== null);
}
