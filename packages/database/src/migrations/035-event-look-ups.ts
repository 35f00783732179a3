/** Events are recorded by look-ups of single rows, also in a session that planned them for empty tables. */
export const name = '035-event-look-ups';

export const up = `
-- safe: the new bodies do what the old ones did. A range of one id, in order and with limit 1, is only planned for the primary key, and
-- the logs of accounts without a row in the statement are not read.
create or replace function record_duplicate_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into unpublished_events (account_id, type, receipt_id, source_order_id, order_id, details)
  select n.account_id, 'receipt.duplicate', n.receipt_id, o.source_order_id, n.order_id,
         jsonb_build_object(
           'duplicate_of', o.receipt_id,
           'changed', coalesce((select jsonb_agg(c.change -> 'pointer' order by c.place)
                                from jsonb_array_elements(n.changes) with ordinality as c(change, place)), '[]'))
  from new_resends n
  cross join lateral (
    select o.source_order_id, o.receipt_id from orders o
    where o.account_id = n.account_id and o.order_id >= n.order_id and o.order_id <= n.order_id
    order by o.order_id limit 1
  ) as o
  where n.account_id = any(array(
    select account_id from event_logs where account_id = any(array(select account_id from new_resends)) and is_enabled
  ));
  return null;
end
$$;

-- safe: the new body does what the old one did.
create or replace function record_dead_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into unpublished_events (account_id, type, receipt_id, source_order_id, details)
  select account_id, 'receipt.dead', receipt_id, source_order_id, jsonb_build_object('error', error_code)
  from new_dead
  where account_id = any(array(
    select account_id from event_logs where account_id = any(array(select account_id from new_dead)) and is_enabled
  ));
  return null;
end
$$;

-- safe: the new body does what the old one did.
create or replace function record_order_events() returns trigger
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
`;
