-- The events of each account that has them enabled. See docs/decisions/events.md.

-- An account without a row, or whose log is not enabled, gets no events.
create table event_logs (
  account_id    integer primary key references accounts,
  is_enabled    boolean not null,
  -- The sequence of the newest event.
  last_sequence bigint not null default 0,
  -- The sequence of the newest event that was removed because of its age.
  removed_to    bigint not null default 0
);

-- Recorded in the transaction of what happened, and moved to events by the publisher once they are due.
create table unpublished_events (
  account_id      integer not null,
  due_at          timestamptz not null default clock_timestamp(),
  event_number    bigint generated always as identity,
  -- Random and not a number: after a restore, numbers would be given a second time.
  event_id        uuid not null default gen_random_uuid(),
  type            text not null,
  receipt_id      uuid not null,
  source_order_id text collate "C" not null,
  order_id        bigint,
  details         jsonb not null default '{}',
  primary key (account_id, due_at, event_number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index unpublished_reasons on unpublished_events (account_id, order_id) where jsonb_exists(details, 'reason');

create table events (
  account_id      integer not null,
  -- Assigned by the publisher in its transaction, without gaps but for a restore.
  sequence        bigint not null,
  event_id        uuid not null,
  type            text not null,
  happened_at     timestamptz not null,
  receipt_id      uuid not null,
  source_order_id text collate "C" not null,
  order_id        bigint,
  details         jsonb not null,
  primary key (account_id, sequence)
);
create index events_with_reasons on events (account_id, order_id) where jsonb_exists(details, 'reason');

-- What an event says of warnings: codes and pointers of the first hundred. The pointer of an unknown field contains a name that the sender
-- chose, which can be personal, so the pointer of its parent takes its place.
create function event_warnings(warnings jsonb) returns jsonb language sql immutable parallel safe
return coalesce(
  (select jsonb_agg(jsonb_build_object(
            'pointer', case when w.warning ->> 'code' = 'unknown_field' then regexp_replace(w.warning ->> 'pointer', '/[^/]*$', '')
                            else w.warning ->> 'pointer' end,
            'code', w.warning ->> 'code') order by w.ordinal)
   from jsonb_array_elements(warnings) with ordinality as w(warning, ordinal) where w.ordinal <= 100), '[]')
  || case when jsonb_array_length(warnings) > 100 then '[{"pointer": "", "code": "more_warnings"}]'::jsonb else '[]' end;

-- The functions below begin with the same test, which ends them early for accounts that never had events. Only triggers run them: a role
-- that could make a trigger of its own with one of them would act with the rights of the owner.

-- The event of a receipt that ended `duplicate`.
create function record_duplicate_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from event_logs where account_id = any(array(select account_id from new_changed_deliveries))) then return null; end if;
  insert into unpublished_events (account_id, type, receipt_id, source_order_id, order_id, details)
  select n.account_id, 'receipt.duplicate', n.receipt_id, o.source_order_id, n.order_id,
         jsonb_build_object(
           'duplicate_of', o.receipt_id,
           'changed', coalesce((select jsonb_agg(c.change -> 'pointer' order by c.ordinal)
                                from jsonb_array_elements(n.changes) with ordinality as c(change, ordinal)), '[]'))
  from new_changed_deliveries n
  cross join lateral (
    select o.source_order_id, o.receipt_id from orders o
    where o.account_id = n.account_id and o.order_id = n.order_id
    offset 0
  ) as o
  where n.account_id = any(array(
    select account_id from event_logs where account_id = any(array(select account_id from new_changed_deliveries)) and is_enabled
  ));
  return null;
end
$$;
create trigger record_duplicate_events after insert on changed_deliveries
referencing new table as new_changed_deliveries for each statement execute function record_duplicate_events();

-- The event of a receipt that ended `dead`.
create function record_dead_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from event_logs where account_id = any(array(select account_id from new_dead))) then return null; end if;
  insert into unpublished_events (account_id, type, receipt_id, source_order_id, details)
  select account_id, 'receipt.dead', receipt_id, source_order_id, jsonb_build_object('error', error_code)
  from new_dead
  where account_id = any(array(
    select account_id from event_logs where account_id = any(array(select account_id from new_dead)) and is_enabled
  ));
  return null;
end
$$;
create trigger record_dead_events after insert on dead_letters
referencing new table as new_dead for each statement execute function record_dead_events();

-- The events of decisions about orders. On audit_events, because each decision writes its row there in the same transaction. Of a
-- confirmation, dispatch_log has the event, as it can be taken back until then.
create function record_order_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from event_logs where account_id = any(array(select account_id from new_audit_events))) then return null; end if;
  insert into unpublished_events (account_id, type, receipt_id, source_order_id, order_id, details)
  select decided.account_id, decided.type, o.receipt_id, o.source_order_id, decided.order_id,
         jsonb_strip_nulls(jsonb_build_object('reason', decided.reason))
  from (
    select n.account_id, n.event_id, n.order_id, n.details ->> 'reason' as reason,
           case n.action
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
      and n.order_id is not null
      -- Nobody was told of a confirmation that was taken back.
      and not (n.action = 'order_review_undone' and n.details ->> 'was' = 'confirmed')
    offset 0
  ) as decided
  cross join lateral (
    select o.source_order_id, o.receipt_id from orders o
    where o.account_id = decided.account_id and o.order_id = decided.order_id
    offset 0
  ) as o
  where decided.type is not null
  order by decided.event_id;
  return null;
end
$$;
create trigger record_order_events after insert on audit_events
referencing new table as new_audit_events for each statement execute function record_order_events();

-- The event of a confirmed order that was dispatched.
create function record_confirmed_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from event_logs where account_id = any(array(select account_id from new_dispatched))) then return null; end if;
  insert into unpublished_events (account_id, type, receipt_id, source_order_id, order_id)
  select n.account_id, 'order.confirmed', o.receipt_id, o.source_order_id, n.order_id
  from new_dispatched n
  cross join lateral (
    select o.source_order_id, o.receipt_id from orders o where o.account_id = n.account_id and o.order_id = n.order_id
    offset 0
  ) as o
  where not n.is_cancellation and n.account_id = any(array(
    select account_id from event_logs where account_id = any(array(select account_id from new_dispatched)) and is_enabled
  ))
  order by n.position;
  return null;
end
$$;
create trigger record_confirmed_events after insert on dispatch_log
referencing new table as new_dispatched for each statement execute function record_confirmed_events();

revoke all on function record_duplicate_events(), record_dead_events(), record_order_events(), record_confirmed_events() from public;
