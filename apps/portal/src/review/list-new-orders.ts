import type { Database } from '@orders/database/connect.ts';
import { LISTED_COLUMNS, type ListedOrder, type ListedRow, toListed } from '@orders/database/orders/order-rows.ts';
import { run, type Statement } from '@orders/database/run.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { ANY_ID, inState, MATCHES, parametersOf, prepareFilter, type ReviewFilter } from './review-filter.ts';

/** New orders of a list. */
export interface NewOrders {
  /** Newest first; orders written within the last seconds can be repeated. */
  orders: ListedOrder[];
  /** Whether there are more. */
  more: boolean;
  /** Id of the newest order of the list, ignoring the filter: the next `after`. */
  latest: number;
}

/**
 * Max newest orders scanned. It is a parameter of the statements and not a constant: Postgres expects few orders in a range between two
 * parameters. With a constant limit above that, it would read and sort all orders of the account.
 */
const MAX_SCANNED = 500;
/** Two workers can commit in another order than that of their ids, by up to the duration of a write. */
const LATE_SECONDS = 10;
const LATE_IDS = 100_000;

const newOrders = (state: ReviewState): Statement => ({
  name: `list-new-orders-${state}`,
  text: `
select ${LISTED_COLUMNS} from (
  select * from orders where ${inState(state)} order by order_id desc limit $14::int
) as o
where (order_id > $12::bigint or written_at > now() - interval '${LATE_SECONDS} seconds') and ${MATCHES}
order by order_id desc limit $13::int`,
});

const newest = (state: ReviewState): Statement => ({
  name: `newest-order-${state}`,
  text: `
with newest as materialized (
  select order_id from orders where ${inState(state)} order by order_id desc limit $4::int
)
select max(order_id) as latest, count(*) > ${MAX_SCANNED} as "isMany" from newest`,
});

/** Up to `limit` orders that were added to the list after the order `after`, by the same filter. */
export async function listReviewSince(
  database: Database,
  filter: ReviewFilter,
  { after, limit }: { after: number; limit: number },
): Promise<NewOrders> {
  const { accountId, state } = filter;
  const prepared = await prepareFilter(database, filter);
  // Read before the orders, so that orders added meanwhile are returned by the next call.
  const [top] = await run<{ latest: number | null; isMany: boolean }>(database, newest(state), [
    accountId,
    ANY_ID,
    after + 1,
    MAX_SCANNED + 1,
  ]);
  const values = [...parametersOf(prepared, ANY_ID, Math.max(0, after - LATE_IDS)), after, limit + 1, MAX_SCANNED];
  const rows = await run<ListedRow>(database, newOrders(state), values);
  return {
    orders: rows.slice(0, limit).map(toListed),
    more: top?.isMany === true || (rows[limit]?.order_id ?? 0) > after,
    latest: top?.latest ?? after,
  };
}

/** A parameter of the statement, for the reason above. */
const MAX_COUNTED = 10_000;

const COUNT = {
  name: 'count-needing-review',
  text: `
select (select count(*) from (
    select from orders where account_id = $1::int and review_state = 'needs_review' order by order_id limit $2::int
  ) as counted) as waiting,
  exists (select from orders where account_id = $1::int and review_state = 'awaiting_payment') as unpaid`,
};

/** Number of orders of the account that need review; the count stops at 10,000. `hasUnpaid`: whether there are some that await payment. */
export async function countNeedingReview(
  database: Database,
  accountId: number,
): Promise<{ count: number; capped: boolean; hasUnpaid: boolean }> {
  const [row] = await run<{ waiting: number; unpaid: boolean }>(database, COUNT, [accountId, MAX_COUNTED + 1]);
  const waiting = row?.waiting ?? 0;
  return { count: Math.min(waiting, MAX_COUNTED), capped: waiting > MAX_COUNTED, hasUnpaid: row?.unpaid ?? false };
}
