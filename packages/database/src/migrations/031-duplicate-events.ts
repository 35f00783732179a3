/** Records the event of a receipt that ended `duplicate`. Decision 028. */
export const name = '031-duplicate-events';

export const up = `
-- A range of one id, in order and with limit 1, is only planned for the primary key, also in a session that planned it for empty tables.
create function record_duplicate_events() returns trigger
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
-- safe: it inserts into a new table alone; creating it reads no row, and writers wait for a moment.
create trigger record_duplicate_events after insert on resends
referencing new table as new_resends for each statement execute function record_duplicate_events();
`;
