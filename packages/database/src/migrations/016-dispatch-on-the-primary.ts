/**
 * `dispatchable_orders` refuses to be read on a standby. A standby shows a confirmation as soon as it is replayed and counts the undo time
 * by its own clock, so it would show orders whose undo is not replayed yet.
 */
export const name = '016-dispatch-on-the-primary';

export const up = `
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

create or replace view dispatchable_orders as
select confirmed_xid, order_id, account_id, source_order_id, order_number, channel, receipt_id, customer_name, customer_phone,
       customer_email, customer_id, address, emirate, emirate_code, area, items, total, currency, delivery_instructions,
       warnings, reviewed_by as confirmed_by, reviewed_at as confirmed_at, received_at, written_at
from orders
where require_primary()
  and review_state = 'confirmed'
  and confirmed_xid < pg_snapshot_xmin(pg_current_snapshot())
  and confirmed_xid < coalesce(
    (select min(confirmed_xid) from orders where review_state = 'confirmed' and reviewed_at > now() - interval '10 seconds'),
    pg_snapshot_xmin(pg_current_snapshot()));
`;
