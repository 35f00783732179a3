-- Test mode: an account of its own for the tests of an account (accounts.test_of). Its orders are never dispatched, and all that was sent to
-- it is removed after seven days. See docs/decisions/isolation.md.
-- The functions run with the rights of the owner, so that the worker can remove orders of these accounts and no others.

-- One row: what these accounts received before this time has been removed.
create table test_mode_clock (
  is_only_row boolean primary key default true check (is_only_row),
  emptied_to  timestamptz not null default now()
);
insert into test_mode_clock default values;

-- Removes up to max_orders test orders that were written before a time, with all that belongs to them, and returns their number. They may
-- be sent again then.
create function remove_test_orders(written_before timestamptz, max_orders integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  tests integer[] := array(select account_id from accounts where test_of is not null);
  ids bigint[];
begin
  -- Locked in id order, as reviews lock them; those that somebody changes at this moment are removed by the next run.
  ids := array(
    select order_id from orders where account_id = any(tests) and written_at < written_before
    order by order_id limit max_orders for update skip locked);
  delete from undispatched_orders where account_id = any(tests) and order_id = any(ids);
  delete from order_notes where account_id = any(tests) and order_id = any(ids);
  delete from order_prints where account_id = any(tests) and order_id = any(ids);
  delete from order_snoozes where account_id = any(tests) and order_id = any(ids);
  delete from order_words where account_id = any(tests) and order_id = any(ids);
  delete from changed_deliveries where account_id = any(tests) and order_id = any(ids);
  delete from cancellation_requests where account_id = any(tests) and order_id = any(ids);
  delete from order_keys k using orders o
  where o.account_id = any(tests) and o.order_id = any(ids) and k.account_id = o.account_id and k.source_order_id = o.source_order_id;
  delete from orders where account_id = any(tests) and order_id = any(ids);
  return cardinality(ids);
end
$$;
revoke all on function remove_test_orders(timestamptz, integer) from public;

-- Removes the final receipts of test accounts with ids from one to before another, and the bodies of theirs that no receipt needs. A body has
-- the id of its write, which can be of a moment later: earliest_id is that of the first receipt which can have one of these.
create function remove_test_receipts(from_id uuid, before_id uuid, earliest_id uuid) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  tests integer[] := array(select account_id from accounts where test_of is not null);
  removed integer;
begin
  if cardinality(tests) = 0 then return 0; end if;
  -- A used key would lead to a receipt that is gone.
  delete from idempotency_keys where account_id = any(tests) and receipt_id >= from_id and receipt_id < before_id;
  delete from dead_letters where account_id = any(tests) and receipt_id >= from_id and receipt_id < before_id;
  delete from receipts
  where receipt_id >= from_id and receipt_id < before_id and account_id = any(tests) and state in ('written', 'duplicate', 'dead');
  get diagnostics removed = row_count;
  delete from receipt_payloads p
  where p.batch_id >= from_id and p.batch_id < before_id and p.account_id = any(tests)
    and not exists (
      select from receipts r
      where r.receipt_id >= earliest_id and r.receipt_id < before_id and r.account_id = p.account_id and r.batch_id = p.batch_id
    );
  return removed;
end
$$;
revoke all on function remove_test_receipts(uuid, uuid, uuid) from public;
