-- What the erasure of an order removes from other tables, so that none is forgotten whoever sets erased_at. See docs/decisions/erasure.md.
create function erase_changes() returns trigger language plpgsql as $$
begin
  update changed_deliveries set changes = null
  where account_id = new.account_id and order_id = new.order_id and changes is not null;
  delete from order_notes where account_id = new.account_id and order_id = new.order_id;
  delete from order_prints where account_id = new.account_id and order_id = new.order_id;
  delete from order_snoozes where account_id = new.account_id and order_id = new.order_id;
  update cancellation_requests set reason = null
  where account_id = new.account_id and order_id = new.order_id and reason is not null;
  -- Waits for the publisher, so that an event which it moves meanwhile is found by the next statement.
  update unpublished_events set details = details - 'reason'
  where account_id = new.account_id and order_id = new.order_id and jsonb_exists(details, 'reason');
  update events set details = details - 'reason'
  where account_id = new.account_id and order_id = new.order_id and jsonb_exists(details, 'reason');
  return null;
end
$$;

create trigger erase_changes after update of erased_at on orders
for each row when (new.erased_at is not null) execute function erase_changes();
