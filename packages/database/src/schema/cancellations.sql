-- Cancellations by senders. See docs/decisions/dispatching-and-cancelling.md.
-- The functions run with the rights of the owner, so that apps can do exactly this to orders;
-- `deploy/postgres/roles.sql` grants their use.

-- Cancellations of orders that dispatching has seen: for reviewers, and for the dispatching system as a view.
create table cancellation_requests (
  account_id   integer not null,
  order_id     bigint not null,
  -- At least the order's confirmed_xid, so that dispatch_cancellations never shows a request before its order.
  request_xid  xid8 not null,
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
create index cancellation_requests_by_xid on cancellation_requests (request_xid, order_id);
create index cancellation_requests_open on cancellation_requests (account_id, requested_at) where closed_at is null;
create index cancellation_requests_open_by_time on cancellation_requests (requested_at) where closed_at is null;

-- Cancels an account's orders under their locks, with audit events. Either by_key or by_source is null. The ids are distinct; reasons has a
-- reason or null for each of them. Returns the outcome of each order that exists, by the position of its id. The cancellations of all
-- others are held.
-- "shownAt" is set if a confirmation was taken back: dispatching would have seen the order from then on. Rows are few and short, because
-- they are sent before the commit, and a client that stops reading would delay it.
-- Raises lock_not_available after half a second, and serialization_failure if it must be called again.
create function cancel_orders(for_account integer, by_key integer, by_source integer, by_channel text, ids text[], reasons text[])
returns table (ordinal bigint, outcome text, "orderId" bigint, "shownAt" timestamptz)
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms' as $$
declare
  actor text := (select 'source:' || name from sources where account_id = for_account and source_number = by_source
                 union all select 'key:' || name from api_keys where account_id = for_account and key_id = by_key);
  target record;
  -- Of those cancelled within their undo time, the earliest.
  confirmed_at timestamptz;
  decided integer := 0;
  held integer;
begin
  -- In id order, as reviews lock them. With offset 0, limit 1 and ctid, each look-up reads one row by an index, also in a plan made
  -- while the table was empty.
  for target in
    select known.ordinal, o.ctid, o.order_id, o.review_state, o.reviewed_at, o.confirmed_xid, o.is_erased,
           case when not o.is_erased then known.reason end as reason
    from (
      select given.ordinal, given.reason, by_id.order_id
      from unnest(ids, reasons) with ordinality as given(id, reason, ordinal)
      cross join lateral (
        select o.order_id from orders o where o.account_id = for_account and o.source_order_id = given.id
        offset 0
      ) as by_id
      order by by_id.order_id
    ) as known
    cross join lateral (
      select o.ctid, o.order_id, o.review_state, o.reviewed_at, o.confirmed_xid, o.erased_at is not null as is_erased
      from orders o
      where o.account_id = for_account and o.order_id >= known.order_id and o.order_id <= known.order_id
      order by o.order_id limit 1
      for update
    ) as o
  loop
    decided := decided + 1;
    continue when target.review_state = 'cancellation_held';
    ordinal := target.ordinal;
    "orderId" := target.order_id;
    "shownAt" := null;
    if target.review_state = 'cancelled' then
      outcome := case when exists (
        select from cancellation_requests r where r.account_id = for_account and r.order_id = target.order_id
      ) then 'requested' else 'cancelled' end;
    -- An undo is allowed as long, see undo-review.ts.
    elsif target.review_state = 'confirmed' and target.reviewed_at <= clock_timestamp() - interval '8 seconds' then
      outcome := 'requested';
      insert into cancellation_requests (account_id, order_id, request_xid, requested_by, reason)
      values (for_account, target.order_id, greatest(pg_current_xact_id(), target.confirmed_xid), actor, target.reason)
      on conflict do nothing;
      if found then
        insert into audit_events (account_id, at, actor, action, subject, details)
        values (for_account, clock_timestamp(), actor, 'order_cancel_requested', 'order:' || target.order_id,
                nullif(jsonb_strip_nulls(jsonb_build_object('reason', target.reason)), '{}'));
      end if;
    else
      outcome := 'cancelled';
      update orders
      set review_state = 'cancelled', reviewed_by = actor, reviewed_at = clock_timestamp(), review_reason = target.reason,
          confirmed_xid = null
      where ctid = target.ctid;
      -- Search terms of erased orders stay, see deleteSearchTerms.
      if not target.is_erased then
        delete from order_words where account_id = for_account and order_id = target.order_id;
      end if;
      insert into audit_events (account_id, at, actor, action, subject, details)
      values (for_account, clock_timestamp(), actor, 'order_cancelled', 'order:' || target.order_id,
              nullif(jsonb_strip_nulls(jsonb_build_object('was', nullif(target.review_state, 'needs_review'), 'reason', target.reason)),
                     '{}'));
      if target.review_state = 'confirmed' then
        confirmed_at := least(confirmed_at, target.reviewed_at);
        "shownAt" := target.reviewed_at + interval '10 seconds';
      end if;
    end if;
    return next;
  end loop;

  -- The insert waits for workers that are writing these orders. In key order, as workers insert, so that they do not deadlock.
  insert into orders (account_id, source_order_id, order_number, channel, receipt_id, items, currency, warnings, review_state,
                      reviewed_by, reviewed_at, review_reason, received_at)
  select for_account, given.id, given.id, by_channel, '00000000-0000-0000-0000-000000000000', '[]', '', '[]', 'cancellation_held',
         actor, clock_timestamp(), given.reason, clock_timestamp()
  from unnest(ids, reasons) as given(id, reason)
  where decided < cardinality(ids)
  order by given.id
  on conflict do nothing;
  get diagnostics held = row_count;
  if decided + held < cardinality(ids) then
    raise exception 'an order was written meanwhile' using errcode = 'serialization_failure';
  end if;
  -- The commit follows at once, and dispatching sees an order ten seconds after its confirmation.
  if clock_timestamp() > confirmed_at + interval '9 seconds' then
    raise exception 'the undo time of an order is over' using errcode = 'serialization_failure';
  end if;
end
$$;
revoke all on function cancel_orders(integer, integer, integer, text, text[], text[]) from public;

-- cancel_orders for one delivery of a source.
create function cancel_order_of_source(for_account integer, by_source integer, id text, modified_at timestamptz)
returns table (ordinal bigint, outcome text, "orderId" bigint, "shownAt" timestamptz)
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms' as $$
begin
  return query select * from cancel_orders(for_account, null, by_source, 'webhook', array[id], array[null::text]);
  update orders o set platform_cancelled_at = greatest(o.platform_cancelled_at, modified_at)
  where o.account_id = for_account and o.source_order_id = id and modified_at is not null;
  -- A platform that cancels an order that it had ordered again cancels it anew.
  update cancellation_requests r
  set ordered_again_at = null, closed_at = null, closed_by = null, requested_at = clock_timestamp()
  from orders o
  where o.account_id = for_account and o.source_order_id = id
    and r.account_id = for_account and r.order_id = o.order_id and r.ordered_again_at is not null;
end
$$;
revoke all on function cancel_order_of_source(integer, integer, text, timestamptz) from public;

-- An order that was cancelled needs review again and gets a warning; of one that dispatching may have seen, the request is open again and
-- says so. Called under the lock of the order.
create function reopen_ordered_again(for_account integer, of_order bigint) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  actor text;
begin
  update orders
  set review_state = 'needs_review', reviewed_at = clock_timestamp(), review_reason = null,
      warnings = case when warnings @> '[{"code": "ordered_again"}]' then warnings
                      else '[{"pointer": "", "code": "ordered_again", "detail": "The platform cancelled this order and then sent it again"}]' || warnings
                 end
  where account_id = for_account and order_id >= of_order and order_id <= of_order and review_state = 'cancelled'
  returning reviewed_by into actor;
  if found then
    insert into order_words (account_id, order_id, words)
    select account_id, order_id, order_words(account_id, source_order_id, order_number, customer_name, customer_phone, customer_email,
                                             customer_id, address, area, items, channel, emirate_code, warnings)
    from orders where account_id = for_account and order_id >= of_order and order_id <= of_order
    on conflict (account_id, order_id) do update set words = excluded.words;
    insert into audit_events (account_id, at, actor, action, subject, details)
    values (for_account, clock_timestamp(), actor, 'order_reopened', 'order:' || of_order, '{"ordered_again": true}');
  else
    update cancellation_requests set ordered_again_at = clock_timestamp(), closed_at = null, closed_by = null
    where account_id = for_account and order_id = of_order;
  end if;
end
$$;
revoke all on function reopen_ordered_again(integer, bigint) from public;

-- Called after the commit of cancel_orders, with the orders that it returned with "shownAt": if that is over, the commit was so slow that
-- dispatching may have seen them, and it is told by a request. Returns the ids of these orders.
create function request_late_cancellations(for_account integer, ids bigint[], shown_at timestamptz[]) returns setof bigint
language sql security definer set search_path = public, pg_temp as $$
  with late as (
    select o.order_id, o.reviewed_by, o.review_reason
    from unnest(ids, shown_at) as given(id, shown_at)
    join orders o on o.account_id = for_account and o.order_id = given.id
    where clock_timestamp() > given.shown_at
  ), requested as (
    insert into cancellation_requests (account_id, order_id, request_xid, requested_by, reason)
    select for_account, order_id, pg_current_xact_id(), reviewed_by, review_reason from late where reviewed_by is not null
    on conflict do nothing
    returning order_id, requested_by, reason
  ), audited as (
    insert into audit_events (account_id, at, actor, action, subject, details)
    select for_account, clock_timestamp(), requested_by, 'order_cancel_requested', 'order:' || order_id,
           case when reason is not null then jsonb_build_object('reason', reason) end
    from requested
  )
  select order_id from late;
$$;
revoke all on function request_late_cancellations(integer, bigint[], timestamptz[]) from public;

-- Deletes the held cancellation of an order that is about to be written.
create function take_held_cancellation(of_account integer, of_id text)
returns table (cancelled_by text, cancelled_at timestamptz, reason text)
language sql security definer set search_path = public, pg_temp as $$
  delete from orders where account_id = of_account and source_order_id = of_id and review_state = 'cancellation_held'
  returning reviewed_by, reviewed_at, review_reason;
$$;
revoke all on function take_held_cancellation(integer, text) from public;

-- Deletes held cancellations of before a time, the oldest first. Returns how many.
create function remove_held_cancellations(before timestamptz, at_most integer) returns bigint
language sql security definer set search_path = public, pg_temp as $$
  with old as materialized (
    select account_id, order_id from orders
    where review_state = 'cancellation_held' and reviewed_at < before
    order by reviewed_at limit at_most for update skip locked
  ), removed as (
    delete from orders o using old
    where o.account_id = old.account_id and o.order_id = old.order_id and o.review_state = 'cancellation_held'
    returning 1
  )
  select count(*) from removed;
$$;
revoke all on function remove_held_cancellations(timestamptz, integer) from public;
