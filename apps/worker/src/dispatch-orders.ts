import type { Database } from '@orders/database/connect.ts';
import { dueFrom, type LowerBound, NO_LOWER_BOUND } from '@orders/database/lower-bound.ts';
import { PUBLISH_LOCK, run } from '@orders/database/run.ts';

/** A transaction that ends within this time after it added a row to a queue is found by the next round. */
export const LATE_SECONDS = 2;

const DISPATCH = {
  name: 'dispatch-orders',
  // One publisher at a time gives positions, and its commit is visible before the next one begins, so no position appears after a higher
  // one. Waits for no row: a confirmation that is being taken back is tried again, or gone, in the next round.
  text: `
with publisher as materialized (
  select where pg_try_advisory_xact_lock(${PUBLISH_LOCK})
), due as materialized (
  select u.* from publisher cross join lateral (
    select account_id, order_id, due_at from undispatched_orders
    where due_at <= clock_timestamp() and ${dueFrom('$2')} order by due_at, order_id limit $1::int
    for update skip locked
  ) as u
), taken as (
  delete from undispatched_orders u using due where u.account_id = due.account_id and u.order_id = due.order_id
  returning u.account_id, u.order_id, u.due_at, u.is_test
), requested as materialized (
  select r.* from publisher cross join lateral (
    select account_id, order_id, requested_at from cancellation_requests
    where position is null order by requested_at, order_id limit $1::int
    for update skip locked
  ) as r
), listed as materialized (
  select account_id, order_id, is_cancellation, row_number() over (order by is_cancellation, at, order_id) as place
  from (
    select account_id, order_id, false as is_cancellation, due_at as at from taken where not is_test
    union all
    select account_id, order_id, true, requested_at from requested
  ) as both_kinds
), counted as (
  update dispatch_counter set last_position = last_position + (select count(*) from listed)
  where exists (select from listed)
  returning last_position - (select count(*) from listed) as position_before
), marked as (
  update cancellation_requests r set position = counted.position_before + l.place
  from listed l cross join counted
  where l.is_cancellation and r.account_id = l.account_id and r.order_id = l.order_id
), logged as (
  insert into dispatch_log (position, account_id, order_id, is_cancellation)
  select counted.position_before + l.place, l.account_id, l.order_id, l.is_cancellation from listed l cross join counted
  order by l.place
)
select count(*)::int as count,
       count(*) filter (where is_cancellation) = $1::int or (select count(*) from taken) = $1::int as "hasMore",
       case when exists (select from publisher) and (select count(*) from taken) < $1::int
            then (now() - interval '${LATE_SECONDS} seconds')::text end as "emptyBefore"
from listed`,
};

/** Max orders, and max requests, of a round. */
const MAX_DISPATCHED = 1000;

/**
 * Gives positions in `dispatch_log` to confirmed orders whose undo time is over, and to requests to cancel dispatched orders. Does nothing
 * while another process publishes.
 *
 * @param bound of `undispatched_orders`.
 */
export async function dispatchOrders(
  database: Database,
  limit = MAX_DISPATCHED,
  bound: LowerBound = NO_LOWER_BOUND,
): Promise<{ count: number; hasMore: boolean }> {
  type Row = { count: number; hasMore: boolean; emptyBefore: string | null };
  const [{ emptyBefore, ...round }] = (await run<Row>(database, DISPATCH, [limit, bound.next()])) as [Row];
  bound.move(emptyBefore);
  return round;
}
