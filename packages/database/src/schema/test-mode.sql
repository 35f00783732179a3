-- Test mode: an account of its own for the tests of an account (accounts.test_of). Its orders are never dispatched, and all that was sent to
-- it is removed after seven days. See docs/decisions/isolation.md.
-- The functions run with the rights of the owner, so that the worker can remove orders of these accounts and no others.

-- One row: what these accounts received before this time has been removed.
create table test_mode_clock (
  is_only_row boolean primary key default true check (is_only_row),
  emptied_to  timestamptz not null default now()
);
insert into test_mode_clock default values;

-- Removes up to max_orders test orders that were written before a time, with all that belongs to them, and returns their number. Their ids may
-- be sent again then.
create function remove_test_orders(written_before timestamptz, max_orders integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  tests integer[] := array(select account_id from accounts where test_of is not null);
  oldest bigint[];
  ids bigint[];
begin
  if cardinality(tests) = 0 then return 0; end if;
  delete from order_keys where order_id is null and held_at < written_before and account_id = any(tests);
  -- The first of each account, by its key: ids rise with the time of the write.
  oldest := array(
    select first.order_id from unnest(tests) as test(account_id)
    cross join lateral (
      select o.order_id, o.written_at from orders o where o.account_id = test.account_id order by o.order_id limit max_orders
    ) as first
    where first.written_at < written_before
    order by first.order_id limit max_orders);
  -- Locked in id order, as reviews lock them; those that somebody changes at this moment are removed by the next run.
  ids := array(
    select order_id from orders where account_id = any(tests) and order_id = any(oldest) order by order_id for update skip locked);
  -- Audit and events stay, without what an erasure removes from them; erase_changes does that, and removes notes, prints and snoozes.
  update audit_events set details = kept_audit_details(details)
  where account_id = any(tests) and subject = any(array(select 'order:' || id from unnest(ids) as removed(id)))
    and details is distinct from kept_audit_details(details);
  update orders set erased_at = clock_timestamp() where account_id = any(tests) and order_id = any(ids) and erased_at is null;
  delete from undispatched_orders where account_id = any(tests) and order_id = any(ids);
  delete from order_words where account_id = any(tests) and order_id = any(ids);
  delete from changed_deliveries where account_id = any(tests) and order_id = any(ids);
  delete from cancellation_requests where account_id = any(tests) and order_id = any(ids);
  delete from order_keys k using orders o
  where o.account_id = any(tests) and o.order_id = any(ids) and k.account_id = o.account_id and k.source_order_id = o.source_order_id;
  delete from orders where account_id = any(tests) and order_id = any(ids);
  return cardinality(oldest);
end
$$;
revoke all on function remove_test_orders(timestamptz, integer) from public;

-- Removes up to max_receipts final receipts of test accounts with ids from one to before another, and returns their number. Intake takes an
-- idempotency key for unused once its receipt is gone.
create function remove_test_receipts(from_id uuid, before_id uuid, max_receipts integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  tests integer[] := array(select account_id from accounts where test_of is not null);
  removed integer;
begin
  if cardinality(tests) = 0 then return 0; end if;
  -- The receipt before its dead letter, as a redrive locks them.
  with old as materialized (
    select receipt_id, account_id from receipts
    where receipt_id >= from_id and receipt_id < before_id and account_id = any(tests) and state in ('written', 'duplicate', 'dead')
    order by receipt_id limit max_receipts
    for update
  ), gone as (
    delete from receipts r using old
    where r.receipt_id = old.receipt_id and r.account_id = old.account_id and r.receipt_id >= from_id and r.receipt_id < before_id
    returning r.account_id, r.receipt_id
  ), letters as (
    delete from dead_letters d using gone where d.account_id = gone.account_id and d.receipt_id = gone.receipt_id
  )
  select count(*) into removed from gone;
  return removed;
end
$$;
revoke all on function remove_test_receipts(uuid, uuid, integer) from public;

-- Removes the bodies of test accounts with ids from one to before another that no receipt needs. A body has the id of its write, which can be
-- of a moment later: earliest_id is that of the first receipt which can have one of these.
create function remove_test_payloads(from_id uuid, before_id uuid, earliest_id uuid) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  tests integer[] := array(select account_id from accounts where test_of is not null);
begin
  if cardinality(tests) = 0 then return; end if;
  with kept as materialized (
    select account_id, batch_id from receipts
    where receipt_id >= earliest_id and receipt_id < before_id and account_id = any(tests)
  )
  delete from receipt_payloads p
  where p.batch_id >= from_id and p.batch_id < before_id and p.account_id = any(tests)
    and not exists (select from kept where kept.account_id = p.account_id and kept.batch_id = p.batch_id);
end
$$;
revoke all on function remove_test_payloads(uuid, uuid, uuid) from public;
