-- Who did what to what, and the chain that shows whether entries were changed or removed. See docs/decisions/audit-log.md.

-- The subject is a kind and an id, such as order:17 or key:3. Never a secret; details may hold an order's fields.
create table audit_events (
  event_id   bigint generated always as identity,
  account_id integer,
  at         timestamptz not null default now(),
  actor      text not null,
  action     text not null,
  subject    text not null,
  -- The order that it is about, so that nobody has to parse the subject.
  order_id   bigint generated always as (case when subject ~ '^order:\d{1,18}$' then substr(subject, 7)::bigint end) stored,
  details    jsonb
);
-- An account is moved by logical replication of its rows, and this table has no primary key.
alter table audit_events replica identity full;
-- Unique, because a role that may only insert can choose an id.
create unique index audit_events_by_id on audit_events (event_id);
create index audit_events_by_account on audit_events (account_id, event_id);
create index audit_events_by_actor on audit_events (actor, event_id);
-- Without the account: nearly every subject is of one account.
create index audit_events_by_subject on audit_events (subject, event_id);

-- The position of each audit event in the chain. hash is SHA-256 of the hash before and of the event, see chain_audit_events.
create table audit_chain (
  position     bigint primary key,
  event_id     bigint not null unique,
  hash         bytea not null,
  -- SHA-256 of the salt and the details as they were recorded.
  details_hash bytea not null,
  -- Null once details were erased, so that nobody can guess what they were.
  salt         uuid,
  erased_at    timestamptz
);

-- Events without a position. A trigger adds them in the transaction of the event.
create table unchained_audit_events (
  event_id  bigint primary key,
  queued_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- One row. Whoever chains events or erases details holds its lock. Not an advisory lock, which any role could hold.
create table audit_chain_lock (
  is_only_row boolean primary key default true check (is_only_row)
);
insert into audit_chain_lock default values;

create function queue_audit_events() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into unchained_audit_events (event_id) select event_id from new_audit_events;
  return null;
end
$$;
create trigger queue_audit_events after insert on audit_events
referencing new table as new_audit_events for each statement execute function queue_audit_events();

-- What an erasure leaves of details: neither a reason nor the values of changes. So the chain holds after an erasure, and only after one.
create function kept_audit_details(details jsonb) returns jsonb language sql immutable parallel safe
return case when jsonb_typeof(details) = 'object' then
  details - 'reason' - 'changes' || case when jsonb_typeof(details -> 'changes') = 'array' then jsonb_build_object('changes', (
    select coalesce(jsonb_agg(jsonb_build_object('pointer', c.change -> 'pointer', 'before', null, 'after', null) order by c.ordinal), '[]')
    from jsonb_array_elements(details -> 'changes') with ordinality as c(change, ordinal))) else '{}' end
else details end;

-- The lock comes first: a round that has read the details as they were has committed their position by the next statement.
create function mark_erased_audit_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from audit_chain_lock for update;
  update audit_chain set salt = null, erased_at = clock_timestamp() where event_id = new.event_id;
  return null;
end
$$;
create trigger mark_erased_audit_event after update of details on audit_events
for each row when (old.details is distinct from new.details) execute function mark_erased_audit_event();

-- Only triggers run these two: a role that could make a trigger of its own with one of them would act with the rights of the owner.
revoke all on function queue_audit_events(), mark_erased_audit_event() from public;

-- Gives up to max_rows events, and few if they are long, the next places in the chain, in the order of their ids. An event that commits
-- late gets a later position. Returns their number; 0 also while another session does it or details are erased.
create function chain_audit_events(max_rows integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  ids bigint[];
  event audit_events;
  last_position bigint;
  last_hash bytea;
  salt uuid;
  details text;
  details_hash bytea;
  bytes bigint := 0;
  chained integer := 0;
begin
  -- Without work, no row is locked, which would write to the WAL.
  if not exists (select from unchained_audit_events) then return 0; end if;
  perform from audit_chain_lock for update skip locked;
  if not found then return 0; end if;
  select c.position, c.hash into last_position, last_hash from audit_chain c order by c.position desc limit 1;
  last_position := coalesce(last_position, 0);
  last_hash := coalesce(last_hash, decode(repeat('00', 32), 'hex'));

  -- The event is looked up for each row, so that no plan reads all events. A row without an event stays, for the alert and for verify.
  select array_agg(event_id order by event_id) into ids from (
    select q.event_id from unchained_audit_events q
    cross join lateral (select e.event_id from audit_events e where e.event_id = q.event_id offset 0) as e
    order by q.event_id limit max_rows
  ) as queued;

  for event in select e.* from audit_events e where e.event_id = any(ids) order by e.event_id loop
    salt := gen_random_uuid();
    details := coalesce(event.details::text, '');
    details_hash := sha256(convert_to(salt::text || details, 'UTF8'));
    last_position := last_position + 1;
    last_hash := sha256(last_hash || sha256(convert_to(jsonb_build_array(
      last_position, event.event_id, event.account_id, extract(epoch from event.at)::text, event.actor, event.action, event.subject,
      kept_audit_details(event.details), encode(details_hash, 'hex'))::text, 'UTF8')));
    insert into audit_chain (position, event_id, hash, details_hash, salt)
    values (last_position, event.event_id, last_hash, details_hash, salt);
    chained := chained + 1;
    bytes := bytes + octet_length(details);
    exit when bytes > 16000000;
  end loop;

  delete from unchained_audit_events q using unnest(ids[:chained]) as done(event_id) where q.event_id = done.event_id;
  return chained;
end
$$;
revoke all on function chain_audit_events(integer), kept_audit_details(jsonb) from public;
