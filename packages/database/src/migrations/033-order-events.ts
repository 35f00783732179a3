/**
 * Records an event for each decision about an order. A trigger on audit_events does it, because each decision writes its row there in
 * the same transaction. Decision 028.
 */
export const name = '033-order-events';

export const up = `
create function record_order_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- The event of a confirmation that was taken back, in time, is not published. The log may have been disabled meanwhile.
  delete from unpublished_events u using new_audit_events n
  where n.action in ('order_review_undone', 'order_cancelled') and n.details ->> 'was' = 'confirmed'
    and u.account_id = n.account_id and u.order_id = substr(n.subject, length('order:') + 1)::bigint
    and u.confirmed_xid is not null and u.type = 'order.confirmed';

  insert into unpublished_events (account_id, due_at, type, receipt_id, source_order_id, order_id, details, confirmed_xid)
  select decided.account_id,
         case when decided.type = 'order.confirmed' then clock_timestamp() + interval '10 seconds'
              else coalesce(confirmation.due_at, clock_timestamp()) end,
         decided.type, o.receipt_id, o.source_order_id, decided.order_id, jsonb_strip_nulls(jsonb_build_object('reason', decided.reason)),
         case when decided.type = 'order.confirmed' then pg_current_xact_id() else confirmation.confirmed_xid end
  from (
    select n.account_id, n.event_id, substr(n.subject, length('order:') + 1)::bigint as order_id, n.details ->> 'reason' as reason,
           case n.action
             when 'order_confirmed' then 'order.confirmed'
             when 'order_rejected' then 'order.rejected'
             when 'order_reopened' then 'order.reopened'
             when 'order_review_undone' then 'order.reopened'
             when 'order_edited' then 'order.edited'
             when 'resend_accepted' then 'order.edited'
             when 'order_cancelled' then 'order.cancelled'
             when 'order_cancel_requested' then 'order.cancel_requested'
           end as type
    from new_audit_events n
    where n.account_id = any(array(
        select account_id from event_logs where account_id = any(array(select account_id from new_audit_events)) and is_enabled
      ))
      and n.subject like 'order:%'
      -- Nobody was told of a confirmation that was taken back.
      and not (n.action = 'order_review_undone' and n.details ->> 'was' = 'confirmed')
    offset 0
  ) as decided
  cross join lateral (
    select o.source_order_id, o.receipt_id from orders o
    where o.account_id = decided.account_id and o.order_id >= decided.order_id and o.order_id <= decided.order_id
    order by o.order_id limit 1
  ) as o
  -- The request to cancel a confirmed order is published after its confirmation.
  left join lateral (
    select due_at, confirmed_xid from unpublished_events
    where account_id = decided.account_id and order_id = decided.order_id and confirmed_xid is not null
    order by due_at desc limit 1
  ) as confirmation on true
  where decided.type is not null
  order by decided.event_id;
  return null;
end
$$;
-- safe: it inserts into a new table alone; creating it reads no row, and writers wait for a moment.
create trigger record_order_events after insert on audit_events
referencing new table as new_audit_events for each statement execute function record_order_events();
`;
