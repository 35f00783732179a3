/**
 * Every unique key carries the account id, so that the tables can be spread over shards by account later.
 * Nothing has a foreign key to a receipt: receipts are dropped by whole partitions.
 */
export const name = '001-initial';

export const up = `
create table accounts (
  account_id   integer generated always as identity primary key,
  name         text not null,
  created_at   timestamptz not null default now(),
  suspended_at timestamptz
);

-- A key is looked up by the SHA-256 of 43 random characters; that index needs no unique constraint.
create table api_keys (
  account_id   integer not null references accounts,
  key_id       integer generated always as identity,
  name         text not null,
  key_hash     bytea not null,
  last_four    text not null,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  primary key (account_id, key_id)
);
create index api_keys_by_hash on api_keys (key_hash);

-- Signing is enabled for an account while it has a secret that has not expired.
create table signing_secrets (
  account_id integer not null references accounts,
  secret_id  integer generated always as identity,
  sealed     bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  primary key (account_id, secret_id)
);

-- No index but the key: the two updates of a receipt's life touch no indexed column and stay on its page (HOT).
create table receipts (
  receipt_id       uuid not null,
  received_at      timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  normalized_at    timestamptz,
  lease_expires_at timestamptz,
  next_attempt_at  timestamptz,
  order_id         bigint,
  lease_id         uuid,
  account_id       integer not null,
  attempts         smallint not null default 0,
  crashes          smallint not null default 0,
  runs_alone       boolean not null default false,
  state            text not null default 'received'
                   check (state in ('received', 'normalized', 'written', 'duplicate', 'failed', 'dead')),
  channel          text not null check (channel in ('rest', 'webhook')),
  source_order_id  text collate "C" not null,
  error_code       text,
  warnings         jsonb,
  history          jsonb,
  primary key (receipt_id, account_id)
) partition by range (receipt_id);
create table receipts_default partition of receipts default with (fillfactor = 50);

-- The body as it came, apart from the receipt: written once, read once, never in the way of an update.
create table receipt_payloads (
  receipt_id uuid not null,
  account_id integer not null,
  body       bytea not null,
  primary key (receipt_id, account_id)
) partition by range (receipt_id);
create table receipt_payloads_default partition of receipt_payloads default;

create table idempotency_keys (
  account_id      integer not null,
  idempotency_key text collate "C" not null,
  receipt_id      uuid not null,
  created_at      timestamptz not null default now(),
  primary key (account_id, idempotency_key)
);
create index idempotency_keys_by_age on idempotency_keys using brin (created_at) with (autosummarize = on);

-- A row is a promise that the queue is rung for these receipts until each of them is settled.
create table outbox (
  batch_id    uuid not null,
  receipt_ids uuid[] not null,
  due_at      timestamptz not null
);
create index outbox_by_batch on outbox (batch_id);
create index outbox_by_due on outbox (due_at);

create sequence order_ids as bigint;
create table orders (
  account_id            integer not null,
  order_id              bigint not null default nextval('order_ids'),
  source_order_id       text collate "C" not null,
  order_number          text not null,
  channel               text not null,
  receipt_id            uuid not null,
  customer_name         text,
  customer_phone        text,
  customer_email        text,
  customer_id           text,
  address               text,
  emirate               text,
  emirate_code          text,
  area                  text,
  items                 jsonb not null,
  total                 numeric,
  currency              text not null,
  delivery_instructions text,
  warnings              jsonb not null,
  review_state          text not null default 'needs_review'
                        check (review_state in ('needs_review', 'confirmed', 'rejected')),
  reviewed_by           text,
  reviewed_at           timestamptz,
  confirmed_xid         xid8,
  received_at           timestamptz not null,
  written_at            timestamptz not null default now(),
  primary key (account_id, order_id),
  unique (account_id, source_order_id)
);
create index orders_confirmed on orders (confirmed_xid, order_id) where review_state = 'confirmed';
create index orders_just_confirmed on orders (reviewed_at) where review_state = 'confirmed';

-- Confirmed orders after ten seconds in which a confirmation can be taken back. Follow it by the cursor (confirmed_xid, order_id): a row
-- is shown only once every transaction before its own has ended and every confirmation before it is past its undo time, so nothing
-- appears behind a cursor later on.
create view dispatchable_orders as
select confirmed_xid, order_id, account_id, source_order_id, order_number, channel, receipt_id, customer_name, customer_phone,
       customer_email, customer_id, address, emirate, emirate_code, area, items, total, currency, delivery_instructions,
       warnings, reviewed_by as confirmed_by, reviewed_at as confirmed_at, received_at, written_at
from orders
where review_state = 'confirmed'
  and confirmed_xid < pg_snapshot_xmin(pg_current_snapshot())
  and confirmed_xid < coalesce(
    (select min(confirmed_xid) from orders where review_state = 'confirmed' and reviewed_at > now() - interval '10 seconds'),
    pg_snapshot_xmin(pg_current_snapshot()));
`;
