/**
 * The confirmations of the last ten seconds are found by `orders_just_confirmed`: without `offset 0`, Postgres reads `orders_confirmed` from
 * its beginning for the smallest transaction id, which takes half a second of 500,000 confirmations.
 */
export const name = '058-recent-confirmations';

export const up = `
create or replace view dispatchable_orders as
select confirmed_xid, order_id, account_id, source_order_id, order_number, channel, receipt_id, customer_name, customer_phone,
       customer_email, customer_id, address, emirate, emirate_code, area, items, total, currency, delivery_instructions,
       warnings, reviewed_by as confirmed_by, reviewed_at as confirmed_at, received_at, written_at,
       (select requested_at from cancellation_requests r where r.account_id = o.account_id and r.order_id = o.order_id)
         as cancellation_requested_at
from orders o
where require_primary()
  and review_state = 'confirmed'
  and confirmed_xid < pg_snapshot_xmin(pg_current_snapshot())
  and confirmed_xid < coalesce(
    (select min(confirmed_xid) from (
      select confirmed_xid from orders where review_state = 'confirmed' and reviewed_at > now() - interval '10 seconds' offset 0
    ) as recent),
    pg_snapshot_xmin(pg_current_snapshot()));

create or replace view dispatch_cancellations as
select r.request_xid, r.order_id, r.account_id, o.source_order_id, o.order_number, r.reason, r.requested_by, r.requested_at
from cancellation_requests r
join orders o using (account_id, order_id)
where require_primary()
  and r.request_xid < pg_snapshot_xmin(pg_current_snapshot())
  and r.request_xid < coalesce(
    (select min(confirmed_xid) from (
      select confirmed_xid from orders where review_state = 'confirmed' and reviewed_at > now() - interval '10 seconds' offset 0
    ) as recent),
    pg_snapshot_xmin(pg_current_snapshot()));
`;
