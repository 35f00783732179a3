-- Cancellations by senders, and confirmations that reviewers recall. See docs/decisions/dispatching-and-cancelling.md.
-- The functions run with the rights of the owner, so that apps can do exactly this to orders;
-- `deploy/postgres/roles.sql` grants their use.

-- Cancellations of orders that dispatching has seen: for reviewers, and for the dispatching system as a view.
create table cancellation_requests (
  account_id   integer not null,
  order_id     bigint not null,
  -- Its position in dispatch_log; null until the publisher gives it one.
  position     bigint,
  requested_at timestamptz not null default clock_timestamp(),
  requested_by text not null,
  reason       text,
  -- Set when a person has dealt with it.
  closed_at    timestamptz,
  closed_by    text,
  -- Set if the order was ordered again after the platform's request to cancel it.
  ordered_again_at timestamptz,
  primary key (account_id, order_id)
);
create index cancellation_requests_to_publish on cancellation_requests (requested_at, order_id) where position is null;
create index cancellation_requests_open on cancellation_requests (account_id, requested_at) where closed_at is null;
create index cancellation_requests_open_by_time on cancellation_requests (requested_at) where closed_at is null;

-- Takes a confirmation back before dispatching sees it, under the lock of the order. Returns false if it is too late. Waits for the publisher.
create function keep_from_dispatch(of_account integer, of_order bigint) returns boolean language plpgsql as $$
begin
  delete from undispatched_orders where account_id = of_account and order_id = of_order;
  return found;
end
$$;

-- Cancels an account's orders under their locks, with audit events. Either by_key or by_source is null. The ids are distinct; reasons has a
-- reason or null for each of them. Returns the outcome of each order that exists, by the position of its id. The cancellations of all
-- others are held.
-- Raises lock_not_available after half a second, and serialization_failure if it must be called again.
create function cancel_orders(for_account integer, by_key bigint, by_source integer, ids text[], reasons text[])
returns table (ordinal bigint, outcome text, "orderId" bigint)
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms' as $$
declare
  actor text := (select 'source:' || name from sources where account_id = for_account and source_number = by_source
                 union all select 'key:' || name from api_keys where account_id = for_account and key_id = by_key);
  target record;
  decided integer := 0;
  held integer;
begin
  -- In id order, as reviews lock them. With offset 0, each look-up reads one row by an index, also in a plan made while the table was
  -- empty.
  for target in
    select known.ordinal, known.order_id, o.review_state, o.is_erased, o.is_test,
           case when not o.is_erased then known.reason end as reason
    from (
      select given.ordinal, given.reason, by_id.order_id
      from unnest(ids, reasons) with ordinality as given(id, reason, ordinal)
      cross join lateral (
        select k.order_id from order_keys k where k.account_id = for_account and k.source_order_id = given.id
        offset 0
      ) as by_id
      order by by_id.order_id
    ) as known
    left join lateral (
      select o.review_state, o.erased_at is not null as is_erased, o.is_test
      from orders o
      where o.account_id = for_account and o.order_id = known.order_id
      offset 0
      for update
    ) as o on true
  loop
    decided := decided + 1;
    -- A cancellation is held already.
    continue when target.order_id is null;
    ordinal := target.ordinal;
    "orderId" := target.order_id;
    if target.review_state is null then
      outcome := 'archived';
    elsif target.review_state = 'cancelled' then
      outcome := case when exists (
        select from cancellation_requests r where r.account_id = for_account and r.order_id = target.order_id
      ) then 'requested' else 'cancelled' end;
    elsif target.review_state = 'confirmed' and not keep_from_dispatch(for_account, target.order_id) and not target.is_test then
      outcome := 'requested';
      insert into cancellation_requests (account_id, order_id, requested_by, reason)
      values (for_account, target.order_id, actor, target.reason)
      on conflict do nothing;
      if found then
        insert into audit_events (account_id, at, actor, action, subject, details)
        values (for_account, clock_timestamp(), actor, 'order_cancel_requested', 'order:' || target.order_id,
                nullif(jsonb_strip_nulls(jsonb_build_object('reason', target.reason)), '{}'));
      end if;
    else
      outcome := 'cancelled';
      update orders
      set review_state = 'cancelled', reviewed_by = actor, reviewed_at = clock_timestamp(), review_reason = target.reason
      where account_id = for_account and order_id = target.order_id;
      -- Search terms of erased orders stay, see deleteSearchTerms.
      if not target.is_erased then
        delete from order_words where account_id = for_account and order_id = target.order_id;
      end if;
      insert into audit_events (account_id, at, actor, action, subject, details)
      values (for_account, clock_timestamp(), actor, 'order_cancelled', 'order:' || target.order_id,
              nullif(jsonb_strip_nulls(jsonb_build_object('was', nullif(target.review_state, 'needs_review'), 'reason', target.reason)),
                     '{}'));
    end if;
    return next;
  end loop;

  -- The insert waits for workers that are writing these orders. In key order, as workers insert, so that they do not deadlock.
  insert into order_keys (account_id, source_order_id, held_by, held_at, held_reason)
  select for_account, given.id, actor, clock_timestamp(), given.reason
  from unnest(ids, reasons) as given(id, reason)
  where decided < cardinality(ids)
  order by given.id
  on conflict do nothing;
  get diagnostics held = row_count;
  if decided + held < cardinality(ids) then
    raise exception 'an order was written meanwhile' using errcode = 'serialization_failure';
  end if;
end
$$;
revoke all on function cancel_orders(integer, bigint, integer, text[], text[]) from public;

-- cancel_orders for one delivery of a source. The outcome is `outdated`, and nothing is cancelled, if the platform has changed the order since.
create function cancel_order_of_source(for_account integer, by_source integer, id text, modified_at timestamptz)
returns table (ordinal bigint, outcome text, "orderId" bigint)
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms' as $$
declare
  known bigint := (select k.order_id from order_keys k where k.account_id = for_account and k.source_order_id = id);
begin
  -- A worker may be writing a newer version.
  perform from orders o where o.account_id = for_account and o.order_id = known for update;
  if modified_at < platform_version(for_account, known) then
    return query select 1::bigint, 'outdated', known;
    return;
  end if;
  return query select * from cancel_orders(for_account, null, by_source, array[id], array[null::text]);
  if modified_at is not null then
    update order_keys k set platform_cancelled_at = greatest(k.platform_cancelled_at, modified_at)
    where k.account_id = for_account and k.source_order_id = id and k.order_id is null;
    update orders o set platform_cancelled_at = greatest(o.platform_cancelled_at, modified_at)
    from order_keys k
    where k.account_id = for_account and k.source_order_id = id and o.account_id = for_account and o.order_id = k.order_id;
  end if;
  -- A platform that cancels an order that it had ordered again cancels it anew.
  update cancellation_requests r
  set ordered_again_at = null, closed_at = null, closed_by = null, requested_at = clock_timestamp()
  from order_keys k
  where k.account_id = for_account and k.source_order_id = id
    and r.account_id = for_account and r.order_id = k.order_id and r.ordered_again_at is not null;
end
$$;
revoke all on function cancel_order_of_source(integer, integer, text, timestamptz) from public;

-- An order that was cancelled needs review again, or waits until it is paid, and gets a warning; of one that dispatching may have seen, the
-- request is open again and says so. Called under the lock of the order.
create function reopen_ordered_again(for_account integer, of_order bigint, is_unpaid boolean) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  actor text;
begin
  update orders
  set review_state = case when is_unpaid then 'awaiting_payment' else 'needs_review' end,
      reviewed_at = clock_timestamp(), review_reason = null,
      severity = case when severity = 'blocks' then severity else 'check' end,
      warnings = case when warnings @> '[{"code": "ordered_again"}]' then warnings
                      else '[{"pointer": "", "code": "ordered_again", "detail": "The platform cancelled this order and then sent it again"}]' || warnings
                 end
  where account_id = for_account and order_id = of_order and review_state = 'cancelled'
  returning reviewed_by into actor;
  if found then
    if not is_unpaid then
      perform update_order_words(for_account, of_order);
    end if;
    insert into audit_events (account_id, at, actor, action, subject, details)
    values (for_account, clock_timestamp(), actor, 'order_reopened', 'order:' || of_order, '{"ordered_again": true}');
  else
    update cancellation_requests set ordered_again_at = clock_timestamp(), closed_at = null, closed_by = null
    where account_id = for_account and order_id = of_order;
  end if;
end
$$;
revoke all on function reopen_ordered_again(integer, bigint, boolean) from public;

-- Gives an order that is about to be written its key, in place of the cancellation that the key holds, and returns both. Returns no row if it
-- holds none.
create function take_held_cancellation(of_account integer, of_id text)
returns table (order_id bigint, cancelled_by text, cancelled_at timestamptz, reason text, platform_cancelled_at timestamptz)
language sql security definer set search_path = public, pg_temp as $$
  with held as materialized (
    select * from order_keys k
    where k.account_id = of_account and k.source_order_id = of_id and k.order_id is null for update
  )
  update order_keys k
  set order_id = nextval('order_ids'), held_by = null, held_at = null, held_reason = null, platform_cancelled_at = null
  from held
  where k.account_id = of_account and k.source_order_id = of_id and k.source_order_id = held.source_order_id
  returning k.order_id, held.held_by, held.held_at, held.held_reason, held.platform_cancelled_at;
$$;
revoke all on function take_held_cancellation(integer, text) from public;

-- Deletes the keys with cancellations that were held before a time, the oldest first. Returns how many.
create function remove_held_cancellations(before timestamptz, at_most integer) returns bigint
language sql security definer set search_path = public, pg_temp as $$
  with old as materialized (
    select account_id, source_order_id from order_keys
    where order_id is null and held_at < before
    order by held_at limit at_most for update skip locked
  ), removed as (
    delete from order_keys k using old
    where k.account_id = old.account_id and k.source_order_id = old.source_order_id and k.order_id is null
    returning 1
  )
  select count(*) from removed;
$$;
revoke all on function remove_held_cancellations(timestamptz, integer) from public;
