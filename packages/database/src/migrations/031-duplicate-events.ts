/** Records the event of a receipt that ended `duplicate`. Decision 028. */
export const name = '031-duplicate-events';

export const up = `
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
    select source_order_id, receipt_id from orders where account_id = n.account_id and order_id = n.order_id offset 0
  ) as o
  where n.account_id = any(array(select account_id from event_logs where is_enabled));
  return null;
end
$$;
-- safe: it inserts into a new table alone; creating it reads no row, and writers wait for a moment.
create trigger record_duplicate_events after insert on resends
referencing new table as new_resends for each statement execute function record_duplicate_events();
`;
