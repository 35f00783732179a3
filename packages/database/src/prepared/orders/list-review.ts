import type { ReviewState } from '@orders/domain';
import type { Database } from '../../connect.ts';
import { LISTED_COLUMNS, type ListedOrder, type ListedRow, orderRow, toListed } from '../../orders/order-rows.ts';
import { run, type Statement } from '../run.ts';
import { findFirstSince } from './find-first-since.ts';
import {
  inState,
  MATCHES,
  type PreparedFilter,
  parametersOf,
  prepareFilter,
  type ReviewFilter,
  SLACK_MS,
  WRITTEN,
} from './review-filter.ts';

/** A page of the list, newest first. */
export interface ReviewPage {
  orders: ListedOrder[];
  /**
   * Cursor of the next page; null at the end of the list. Each page scans a bounded part of the list, so it can be short or empty without
   * being the last.
   */
  nextBelow: number | null;
}

/** Above every order id. */
const ANY_ID = Number.MAX_SAFE_INTEGER;

/** Orders per short and long scan; fewer if the filter has a search, as the terms of each order must then be computed. */
const SCAN_LENGTHS = { plain: [2000, 10_000], search: [500, 5000] } as const;
/** Max matches of the search index; more cannot be fetched and sorted in the time of a page. */
const MAX_MATCHES = 5000;

const scan = (state: ReviewState): Statement => ({
  name: `scan-orders-${state}`,
  text: `
select ${LISTED_COLUMNS} from (
  select * from orders where ${inState(state)} order by order_id desc limit $10::int
) as o
where ${MATCHES}
order by order_id desc limit $11::int`,
});

/** The first order after a scan. */
const scanEnd = (state: ReviewState): Statement => ({
  name: `scan-end-${state}`,
  text: `select order_id from orders where ${inState(state)} order by order_id desc offset $4::int limit 1`,
});

/** The search index contains all orders that need review up to this id. The id only grows, so it must be read before the index. */
const MARK = {
  name: 'find-search-terms-mark',
  text: 'select filled_to from order_words_marks where account_id = $1::int',
};

const FIND = {
  name: 'find-orders-by-search-terms',
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
    select order_id from found where order_id < $2::bigint and order_id >= $3::bigint order by order_id desc
  ) as newest
  cross join lateral (${orderRow('$1::int', 'newest.order_id')}) as o
  where o.review_state = 'needs_review' and ${WRITTEN}
  order by newest.order_id desc limit $7::int
) as o on true
order by o.order_id desc`,
};

/**
 * A page of orders with ids below `below`, newest first, at a bounded cost: a short scan of the next orders, the search index and a long
 * scan. If the page is not full then, the next page continues. Orders that are not indexed yet are only scanned.
 */
export async function listReview(
  database: Database,
  filter: ReviewFilter,
  { below = null, limit }: { below?: number | null; limit: number },
): Promise<ReviewPage> {
  const { accountId, state, writtenAfter, writtenBefore } = filter;
  const prepared = await prepareFilter(database, filter);
  const firstSince = (time: number) => findFirstSince(database, { accountId, state, since: new Date(time) });
  const floor = writtenAfter ? ((await firstSince(writtenAfter.getTime() - SLACK_MS)) ?? ANY_ID) : 0;
  const ceiling = writtenBefore ? ((await firstSince(writtenBefore.getTime() + SLACK_MS)) ?? ANY_ID) : ANY_ID;

  let from = Math.min(below ?? ANY_ID, ceiling);
  const found: ListedRow[] = [];
  const toPage = (nextBelow: number | null): ReviewPage => {
    const orders = found.slice(0, limit).map(toListed);
    return { orders, nextBelow: found.length > limit ? (orders.at(-1)?.order_id ?? null) : nextBelow };
  };
  /** @returns whether the page is full or the list at its end. */
  const scanNext = async (length: number): Promise<boolean> => {
    const values = [...parametersOf(prepared, from, floor), length, limit + 1 - found.length];
    found.push(...(await run<ListedRow>(database, scan(state), values)));
    if (found.length > limit) return true;
    const [next] = await run<{ order_id: number }>(database, scanEnd(state), [accountId, from, floor, length]);
    if (next) from = next.order_id + 1;
    return !next;
  };
  /** @returns whether the search index contains all remaining orders and had few enough matches, which are then complete. */
  const findRest = async (): Promise<boolean> => {
    if (!isIndexed()) return false;
    const rest = await findBySearchTerms(database, prepared, { below: from, floor, limit: limit + 1 - found.length });
    found.push(...(rest ?? []));
    return rest !== null;
  };

  const [short, long] = SCAN_LENGTHS[prepared.searchQuery === null ? 'plain' : 'search'];
  if (await scanNext(short)) return toPage(null);
  const [mark] = prepared.indexQuery === null ? [] : await run<{ filled_to: number }>(database, MARK, [accountId]);
  const isIndexed = () => mark !== undefined && from - 1 <= mark.filled_to;
  // If matches stay as frequent as in the short scan, the long scan fills the page.
  const isFrequent = (found.length / short) * long >= limit - found.length;
  for (const step of isFrequent || !isIndexed() ? [() => scanNext(long), findRest] : [findRest, () => scanNext(long)]) {
    if (await step()) return toPage(null);
  }
  return toPage(from);
}

/** Matches with ids in a range, newest first; null when there are too many to find the newest. */
async function findBySearchTerms(
  database: Database,
  { filter, indexQuery }: PreparedFilter,
  { below, floor, limit }: { below: number; floor: number; limit: number },
): Promise<ListedRow[] | null> {
  const { accountId, writtenAfter, writtenBefore } = filter;
  const values = [accountId, below, floor, writtenAfter, writtenBefore, indexQuery, limit];
  const rows = await run<ListedRow & { matches: number }>(database, FIND, values);
  if ((rows[0]?.matches ?? 0) >= MAX_MATCHES) return null;
  return rows.filter(({ order_id }) => order_id !== null);
}
