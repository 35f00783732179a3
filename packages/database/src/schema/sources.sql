-- Sources: webhooks of platforms, as these send them. See docs/decisions/sources-and-normalization.md.

create table sources (
  account_id      integer not null references accounts,
  source_number   integer generated always as identity,
  -- The id in the URL, which is random and can be replaced.
  source_id       text collate "C" not null,
  name            text not null,
  -- Put before the platform's id of an order, so that orders of two sources never have the same source_order_id.
  id_prefix       text not null default '',
  -- When it first took an order or a cancellation. From then on the prefix stays.
  used_at         timestamptz,
  preset          text not null,
  settings        jsonb not null,
  mapping         jsonb not null,
  mapping_version integer not null default 1,
  -- The secret, encrypted; null once the source is removed.
  sealed          bytea,
  -- After a change of the secret, the old one is accepted until then.
  previous_sealed bytea,
  previous_until  timestamptz,
  created_at      timestamptz not null default now(),
  -- Removed sources stay, because their dead receipts can be mapped again.
  removed_at      timestamptz,
  primary key (account_id, source_number)
);
create index sources_by_id on sources (source_id);

create table source_mappings (
  account_id    integer not null,
  source_number integer not null,
  version       integer not null,
  mapping       jsonb not null,
  created_at    timestamptz not null default now(),
  created_by    text not null,
  primary key (account_id, source_number, version)
);

-- Deliveries by day and outcome.
create table source_activity (
  account_id    integer not null,
  source_number integer not null,
  day           date not null,
  outcome       text not null,
  count         bigint not null,
  last_at       timestamptz not null,
  -- The last few, newest first, to show them.
  receipt_ids   uuid[] not null,
  primary key (account_id, source_number, day, outcome)
);
