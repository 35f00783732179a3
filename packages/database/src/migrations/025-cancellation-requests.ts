/** Cancellations of orders that dispatching has seen: for reviewers, and for the dispatching system as a view. Decision 026. */
export const name = '025-cancellation-requests';

export const up = `
create table cancellation_requests (
  account_id   integer not null,
  order_id     bigint not null,
  -- At least the order's confirmed_xid, so that dispatch_cancellations never shows a request before its order.
  request_xid  xid8 not null,
  requested_at timestamptz not null default clock_timestamp(),
  requested_by text not null,
  reason       text,
  -- Set when a person has dealt with it.
  closed_at    timestamptz,
  closed_by    text,
  primary key (account_id, order_id)
);
create index cancellation_requests_by_xid on cancellation_requests (request_xid, order_id);
create index cancellation_requests_open on cancellation_requests (account_id, requested_at) where closed_at is null;
create index cancellation_requests_open_by_time on cancellation_requests (requested_at) where closed_at is null;

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
    (select min(confirmed_xid) from orders where review_state = 'confirmed' and reviewed_at > now() - interval '10 seconds'),
    pg_snapshot_xmin(pg_current_snapshot()));

-- A reader follows it by the cursor (request_xid, order_id). The limits are those of dispatchable_orders, and request_xid is never below
-- confirmed_xid, so an order is visible there before its request is visible here.
create view dispatch_cancellations as
select r.request_xid, r.order_id, r.account_id, o.source_order_id, o.order_number, r.reason, r.requested_by, r.requested_at
from cancellation_requests r
join orders o using (account_id, order_id)
where require_primary()
  and r.request_xid < pg_snapshot_xmin(pg_current_snapshot())
  and r.request_xid < coalesce(
    (select min(confirmed_xid) from orders where review_state = 'confirmed' and reviewed_at > now() - interval '10 seconds'),
    pg_snapshot_xmin(pg_current_snapshot()));

-- safe: the new body does what the old one did and acts on a new table; the erasure of the version before knows no reasons of requests.
create or replace function erase_changes() returns trigger language plpgsql as $$
begin
  update resends set changes = null
  where account_id = new.account_id and order_id = new.order_id and changes is not null;
  delete from order_notes where account_id = new.account_id and order_id = new.order_id;
  update cancellation_requests set reason = null
  where account_id = new.account_id and order_id = new.order_id and reason is not null;
  return null;
end
$$;
`;
