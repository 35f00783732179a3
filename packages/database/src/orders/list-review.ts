import type { Channel, ReviewState } from '@orders/domain';
import { type Database, run, type Statement } from '../connect.ts';
import { type OrderJson, type OrderRow, toJson } from './orders.ts';
import { bothQueries, queryForFilter, queryForWords } from './search-query.ts';

/** Which orders of an account's list are looked for; null asks nothing. */
export interface ReviewFilter {
  accountId: number;
  state: ReviewState;
  /** Words, each the beginning of one in a number or name of the order, or a phone number or its end. */
  words: string | null;
  channel: Channel | null;
  /** A code of ISO 3166-2, or `none` for orders without one. */
  emirate: string | null;
  /** Whether best effort had to mend something. */
  warned: boolean | null;
  /** When the order was written, after the one time and before the other. */
  writtenAfter: Date | null;
  writtenBefore: Date | null;
}

/** A page of the list, newest first. */
export interface ReviewPage {
  orders: OrderJson[];
  /**
   * Where the next page begins; null at the end of the list. A page that has another may be short, and even empty, when what is looked
   * for is rare: each page is looked for in a bounded part of the list.
   */
  nextBelow: number | null;
}

/** Orders looked at one after the other before the index of words is asked, and so many more when that finds too many to sort. */
const STRETCH = 1000;
const LONG_STRETCH = 10_000;
/** Matches that the index of words may find; more of them cannot be sorted within the time of a page. */
const MAX_MATCHES = 5000;
/** Orders are written in the order of their ids but for those that are written at the same time. */
const SLACK_MS = 60_000;
const ANY_ID = Number.MAX_SAFE_INTEGER;

const WORDS =
  'order_words(account_id, source_order_id, order_number, customer_name, customer_phone, channel, emirate_code, warnings)';

/** Orders of the account $1 in a state, with ids below $2 and at least $3. The state is no parameter: its index is a partial one. */
const inState = (state: ReviewState) =>
  `account_id = $1::int and review_state = '${state}' and order_id < $2::bigint and order_id >= $3::bigint`;

const WRITTEN = `
  ($4::timestamptz is null or written_at >= $4::timestamptz) and ($5::timestamptz is null or written_at < $5::timestamptz)`;

const walk = (state: ReviewState): Statement => ({
  name: `walk-orders-${state}`,
  text: `
select * from (
  select * from orders where ${inState(state)} order by order_id desc limit $6::int
) as newest
where ${WRITTEN} and ($7::tsquery is null or ${WORDS} @@ $7::tsquery)
order by order_id desc limit $8::int`,
});

/** The first order behind so many. */
const walkEnd = (state: ReviewState): Statement => ({
  name: `walk-end-${state}`,
  text: `select order_id from orders where ${inState(state)} order by order_id desc offset $4::int limit 1`,
});

const FIND = {
  name: 'find-orders-by-words',
  // Additions of nothing keep the planner from any other index, whatever it believes of the words.
  text: `
with found as materialized (
  select order_id from orders
  where review_state = 'needs_review' and ${WORDS} @@ $7::tsquery
    and account_id + 0 = $1::int and order_id + 0 < $2::bigint and order_id + 0 >= $3::bigint and ${WRITTEN}
  limit $6::int
)
select o.*, newest.matches
from (select order_id, count(*) over () as matches from found order by order_id desc limit $8::int) as newest
cross join lateral (select * from orders where account_id = $1::int and order_id = newest.order_id offset 0) as o
order by o.order_id desc`,
};

const firstSince = (state: ReviewState): Statement => ({
  name: `first-order-since-${state}`,
  // Halves the range of ids until the first order that was written at that time or later is found.
  text: `
with recursive halves(low, high) as (
  select coalesce(min(order_id), 0), coalesce(max(order_id), 0) + 1 from orders
  where account_id = $1::int and review_state = '${state}'
  union all
  select case when middle.written_at < $2::timestamptz then middle.order_id + 1 else low end,
         case when middle.written_at < $2::timestamptz then high else (low + high) / 2 end
  from halves
  left join lateral (
    select order_id, written_at from orders
    where account_id = $1::int and review_state = '${state}' and order_id >= (low + high) / 2
    order by order_id limit 1
  ) as middle on true
  where low < high
)
select low as order_id from halves where low >= high`,
});

/** A page of the list of orders, newest first, of those with ids below `below`. What it costs does not grow with the list. */
export async function listReview(
  database: Database,
  filter: ReviewFilter,
  { below = null, limit }: { below?: number | null; limit: number },
): Promise<ReviewPage> {
  const { accountId, state } = filter;
  const query = await queryFor(database, filter);
  const [floor, ceiling] = await Promise.all([
    filter.writtenAfter ? idSince(database, filter, filter.writtenAfter.getTime() - SLACK_MS) : 0,
    filter.writtenBefore ? idSince(database, filter, filter.writtenBefore.getTime() + SLACK_MS) : ANY_ID,
  ]);
  let from = Math.min(below ?? ANY_ID, ceiling);
  const found: OrderRow[] = [];

  const look = (statement: Statement, rows: number) =>
    run<OrderRow & { matches?: number }>(database, statement, [
      accountId,
      from,
      floor,
      filter.writtenAfter,
      filter.writtenBefore,
      rows,
      query,
      limit + 1 - found.length,
    ]);
  const toPage = (nextBelow: number | null): ReviewPage => {
    const orders = found.slice(0, limit).map(toJson);
    return { orders, nextBelow: found.length > limit ? (orders.at(-1)?.order_id ?? null) : nextBelow };
  };

  for (const stretch of [STRETCH, LONG_STRETCH]) {
    found.push(...(await look(walk(state), stretch)));
    if (found.length > limit) return toPage(null);
    const [next] = await run<{ order_id: number }>(database, walkEnd(state), [accountId, from, floor, stretch]);
    if (!next) return toPage(null);
    from = next.order_id + 1;
    if (stretch === STRETCH && state === 'needs_review' && query !== null) {
      const matches = await look(FIND, MAX_MATCHES);
      if ((matches[0]?.matches ?? 0) < MAX_MATCHES) {
        found.push(...matches);
        return toPage(null);
      }
    }
  }
  return toPage(from);
}

async function queryFor(database: Database, filter: ReviewFilter): Promise<string | null> {
  const { accountId, words } = filter;
  const facets = queryForFilter(accountId, filter);
  if (words === null) return facets;
  const [folded] = await run<{ words: string }>(database, FOLD, [words]);
  return bothQueries(facets, queryForWords(accountId, folded?.words ?? ''));
}

const FOLD = { name: 'fold-words', text: 'select fold_words($1::text) as words' };

async function idSince(database: Database, { accountId, state }: ReviewFilter, ms: number): Promise<number> {
  const [first] = await run<{ order_id: number }>(database, firstSince(state), [accountId, new Date(ms)]);
  return first?.order_id ?? 0;
}

/** What has come to the list since. */
export interface ReviewNews {
  /** Newest first; those that were written within the last seconds may be among them again. */
  orders: OrderJson[];
  /** Whether there are more of them than these. */
  more: boolean;
  /** The newest order of the list, filtered or not: where to ask from next. */
  latest: number;
}

const NEWS_STRETCH = 500;
/** Two workers may commit in another order than that of the ids they took, by as long as a write may take. */
const LATE_SECONDS = 10;
const LATE_IDS = 100_000;

const news = (state: ReviewState): Statement => ({
  name: `list-news-${state}`,
  text: `
select * from (
  select * from orders where ${inState(state)} order by order_id desc limit $6::int
) as newest
where (order_id > $9::bigint or written_at > now() - interval '${LATE_SECONDS} seconds')
  and ${WRITTEN} and ($7::tsquery is null or ${WORDS} @@ $7::tsquery)
order by order_id desc limit $8::int`,
});

/** At most `limit` orders that came to the list after the order `after`, by the same filter. */
export async function listReviewSince(
  database: Database,
  filter: ReviewFilter,
  { after, limit }: { after: number; limit: number },
): Promise<ReviewNews> {
  const { accountId, state, writtenAfter, writtenBefore } = filter;
  const query = await queryFor(database, filter);
  const [[newest], [tooFar]] = await Promise.all([
    run<{ order_id: number }>(database, walkEnd(state), [accountId, ANY_ID, 0, 0]),
    run<{ order_id: number }>(database, walkEnd(state), [accountId, ANY_ID, after + 1, NEWS_STRETCH]),
  ]);
  const from = Math.max(0, after - LATE_IDS);
  const args = [accountId, ANY_ID, from, writtenAfter, writtenBefore, NEWS_STRETCH, query, limit + 1, after];
  const rows = await run<OrderRow>(database, news(state), args);
  const isMore = tooFar !== undefined || (rows[limit]?.order_id ?? 0) > after;
  return {
    orders: rows.slice(0, limit).map(toJson),
    more: isMore,
    latest: Math.max(after, newest?.order_id ?? 0),
  };
}

const MAX_COUNTED = 10_000;

const COUNT = {
  name: 'count-needing-review',
  text: `
select count(*) as waiting from (
  select from orders where account_id = $1::int and review_state = 'needs_review' limit ${MAX_COUNTED + 1}
) as counted`,
};

/** How many orders of the account need review; beyond 10,000 they are not counted. */
export async function countNeedingReview(
  database: Database,
  accountId: number,
): Promise<{ count: number; capped: boolean }> {
  const [row] = await run<{ waiting: number }>(database, COUNT, [accountId]);
  const waiting = row?.waiting ?? 0;
  return { count: Math.min(waiting, MAX_COUNTED), capped: waiting > MAX_COUNTED };
}
