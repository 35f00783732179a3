import type { ReviewState } from '@orders/domain';
import { type Database, run, type Statement } from '../connect.ts';
import { LISTED_COLUMNS, type ListedOrder, type ListedRow, toListed } from './orders.ts';
import { inState, MATCHES, parametersOf, prepareFilter, type ReviewFilter } from './review-filter.ts';

/** What has come to the list since. */
export interface ReviewNews {
  /** Newest first; those that were written within the last seconds may be among them again. */
  orders: ListedOrder[];
  /** Whether there are more of them than these. */
  more: boolean;
  /** The newest order of the list, filtered or not: where to ask from next. */
  latest: number;
}

const ANY_ID = Number.MAX_SAFE_INTEGER;
/**
 * Newer orders than these are not looked through. It is a parameter of the statements: of a range between parameters Postgres expects fewer
 * orders than a limit that it knows, and would read and sort all of the account's.
 */
const STRETCH = 500;
/** Two workers may commit in another order than that of the ids they took, by as long as a write may take. */
const LATE_SECONDS = 10;
const LATE_IDS = 100_000;

const news = (state: ReviewState): Statement => ({
  name: `list-news-${state}`,
  text: `
select ${LISTED_COLUMNS} from (
  select * from orders where ${inState(state)} order by order_id desc limit $12::int
) as o
where (order_id > $10::bigint or written_at > now() - interval '${LATE_SECONDS} seconds') and ${MATCHES}
order by order_id desc limit $11::int`,
});

const newest = (state: ReviewState): Statement => ({
  name: `newest-order-${state}`,
  text: `
with newest as materialized (
  select order_id from orders where ${inState(state)} order by order_id desc limit $4::int
)
select max(order_id) as latest, count(*) > ${STRETCH} as "isMany" from newest`,
});

/** At most `limit` orders that came to the list after the order `after`, by the same filter. */
export async function listReviewSince(
  database: Database,
  filter: ReviewFilter,
  { after, limit }: { after: number; limit: number },
): Promise<ReviewNews> {
  const { accountId, state } = filter;
  const prepared = await prepareFilter(database, filter);
  // Before the orders, so that what comes meanwhile is news the next time again.
  const [top] = await run<{ latest: number | null; isMany: boolean }>(database, newest(state), [
    accountId,
    ANY_ID,
    after + 1,
    STRETCH + 1,
  ]);
  const values = [...parametersOf(prepared, ANY_ID, Math.max(0, after - LATE_IDS)), after, limit + 1, STRETCH];
  const rows = await run<ListedRow>(database, news(state), values);
  return {
    orders: rows.slice(0, limit).map(toListed),
    more: top?.isMany === true || (rows[limit]?.order_id ?? 0) > after,
    latest: top?.latest ?? after,
  };
}

/** A parameter, and in the order of the index, for the reason above. */
const MAX_COUNTED = 10_000;

const COUNT = {
  name: 'count-needing-review',
  text: `
select count(*) as waiting from (
  select from orders where account_id = $1::int and review_state = 'needs_review' order by order_id limit $2::int
) as counted`,
};

/** How many orders of the account need review; beyond 10,000 they are not counted. */
export async function countNeedingReview(
  database: Database,
  accountId: number,
): Promise<{ count: number; capped: boolean }> {
  const [row] = await run<{ waiting: number }>(database, COUNT, [accountId, MAX_COUNTED + 1]);
  const waiting = row?.waiting ?? 0;
  return { count: Math.min(waiting, MAX_COUNTED), capped: waiting > MAX_COUNTED };
}
