-- What dispatching systems read. See docs/decisions/dispatching-and-cancelling.md and docs/dispatch.md.

-- A standby shows a confirmation as soon as it is replayed and counts the undo time by its own clock, so it would show orders whose undo
-- is not replayed yet.
create function require_primary() returns boolean language plpgsql stable as $$
begin
  if pg_is_in_recovery() then
    raise exception 'dispatchable_orders can be read on the primary only'
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'A standby may show orders whose confirmation was taken back.';
  end if;
  return true;
end
$$;

-- Confirmed orders, after ten seconds in which a confirmation can be taken back. A reader follows it by the cursor
-- (confirmed_xid, order_id): an order is shown only once every transaction before its own has ended and the undo time of every
-- confirmation before it is over, so that none appears behind a cursor later.
-- Without `offset 0`, Postgres would read orders_confirmed from its beginning for the smallest transaction id, which takes half a second
-- with 500,000 confirmations, and not orders_just_confirmed.
create view dispatchable_orders as
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

-- A reader follows it by the cursor (request_xid, order_id). The limits are those of dispatchable_orders, and request_xid is never below
-- confirmed_xid, so an order is visible there before its request is visible here.
create view dispatch_cancellations as
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
