/** Records the event of a receipt that ended `dead`. Decision 028. */
export const name = '032-dead-events';

export const up = `
create function record_dead_events() returns trigger
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
-- safe: it inserts into a new table alone; creating it reads no row, and writers wait for a moment.
create trigger record_dead_events after insert on dead_letters
referencing new table as new_dead for each statement execute function record_dead_events();
`;
