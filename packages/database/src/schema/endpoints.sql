-- Endpoints to which the events of an account are delivered. See docs/decisions/events.md.

create table endpoints (
  account_id       integer not null references accounts,
  endpoint_number  integer generated always as identity,
  endpoint_id      text collate "C" not null,
  url              text not null,
  -- Null for all types of events.
  types            text[],
  -- The secret, encrypted.
  sealed           bytea not null,
  -- After a rotation, deliveries are signed with the old secret too until then.
  previous_sealed  bytea,
  previous_until   timestamptz,
  created_at       timestamptz not null default now(),
  -- Why it is disabled: by a person, because it replied 410, or because no attempt succeeded for days.
  disabled         text check (disabled in ('paused', 'gone', 'failing')),
  -- Each event up to this sequence was delivered, waits in waiting_deliveries, or is not of its types.
  delivered_to     bigint not null,
  -- The first of the attempts that failed since the last success.
  failing_since    timestamptz,
  -- Whether its last round of attempts had no success or took long. Only a part of the notifier's capacity is for such endpoints.
  is_slow          boolean not null default false,
  -- When its last round ended that took long, so that it counts as slow for some minutes; null if none did.
  last_slow_at     timestamptz,
  next_round_at    timestamptz not null default now(),
  lease_id         uuid,
  lease_expires_at timestamptz,
  -- A test event that is to be delivered.
  test_event_id    uuid,
  primary key (account_id, endpoint_number)
);

-- Events that were tried without success, or that are to be delivered again.
create table waiting_deliveries (
  account_id      integer not null,
  endpoint_number integer not null,
  sequence        bigint not null,
  attempts        smallint not null default 0,
  due_at          timestamptz not null default now(),
  -- Whether it was made due by the first success after an outage; that happens once.
  is_hastened     boolean not null default false,
  primary key (account_id, endpoint_number, sequence)
);
create index waiting_deliveries_by_due on waiting_deliveries (account_id, endpoint_number, due_at);

create table delivery_attempts (
  account_id      integer not null,
  endpoint_number integer not null,
  attempt_number  bigint generated always as identity,
  at              timestamptz not null,
  event_id        uuid not null,
  type            text not null,
  -- Null for a test event.
  sequence        bigint,
  attempt         smallint not null,
  duration_ms     integer not null,
  -- The HTTP status; null without a response.
  status          smallint,
  -- Null if it succeeded.
  error           text,
  primary key (account_id, endpoint_number, attempt_number)
);
