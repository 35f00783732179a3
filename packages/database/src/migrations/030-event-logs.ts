/** The events of each account that has them enabled. Decision 028. */
export const name = '030-event-logs';

export const up = `
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
  -- A confirmation is due when its undo time is over.
  due_at          timestamptz not null default clock_timestamp(),
  event_number    bigint generated always as identity,
  -- Random, because numbers are used again after a restore.
  event_id        uuid not null default gen_random_uuid(),
  type            text not null,
  receipt_id      uuid not null,
  source_order_id text collate "C" not null,
  order_id        bigint,
  details         jsonb not null default '{}',
  -- Of a confirmation, and of what must not be published before it: the transaction id that dispatchable_orders compares.
  confirmed_xid   xid8,
  primary key (account_id, due_at, event_number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index unpublished_confirmations on unpublished_events (account_id, order_id) where confirmed_xid is not null;
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
-- chose, which can be personal, so that of its parent is named.
create function event_warnings(warnings jsonb) returns jsonb language sql immutable parallel safe
return coalesce(
  (select jsonb_agg(jsonb_build_object(
            'pointer', case when w.warning ->> 'code' = 'unknown_field' then regexp_replace(w.warning ->> 'pointer', '/[^/]*$', '')
                            else w.warning ->> 'pointer' end,
            'code', w.warning ->> 'code') order by w.place)
   from jsonb_array_elements(warnings) with ordinality as w(warning, place) where w.place <= 100), '[]')
  || case when jsonb_array_length(warnings) > 100 then '[{"pointer": "", "code": "more_warnings"}]'::jsonb else '[]' end;

-- safe: the new body does what the old one did, and acts on new tables.
create or replace function erase_changes() returns trigger language plpgsql as $$
begin
  update resends set changes = null
  where account_id = new.account_id and order_id = new.order_id and changes is not null;
  delete from order_notes where account_id = new.account_id and order_id = new.order_id;
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
`;
