-- Receipts, their bodies and their idempotency keys. Receipts and bodies are dropped by whole weekly partitions, so nothing has a foreign
-- key to a receipt.

-- No index but the key: the updates of a receipt change no indexed column and stay on its page (HOT). Columns of fixed width come first,
-- the widest ones before the others, so that no space is lost to alignment.
create table receipts (
  receipt_id       uuid not null,
  received_at      timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  normalized_at    timestamptz,
  lease_expires_at timestamptz,
  next_attempt_at  timestamptz,
  -- Of a webhook from a platform: when it changed the order, by its clock; null if it does not say.
  modified_at      timestamptz,
  -- When its personal data was removed.
  erased_at        timestamptz,
  order_id         bigint,
  lease_id         uuid,
  -- Its body in receipt_payloads: the row, the first byte, counted from 1, and the length in bytes.
  batch_id         uuid not null,
  account_id       integer not null,
  body_start       integer not null,
  body_length      integer not null,
  -- The source of a webhook from a platform.
  source_number    integer,
  -- The length of the raw body of such a webhook, which follows the mapped body; null until it is mapped: the body is then the raw one.
  raw_length       integer,
  attempts         smallint not null default 0,
  crashes          smallint not null default 0,
  runs_alone       boolean not null default false,
  state            text not null default 'received'
                   check (state in ('received', 'normalized', 'written', 'duplicate', 'failed', 'dead')),
  channel          text not null check (channel in ('rest', 'webhook')),
  source_order_id  text collate "C" not null,
  -- What a webhook from a platform is, as `DeliveryKind`.
  delivery_kind    text,
  error_code       text,
  warnings         jsonb,
  history          jsonb,
  primary key (receipt_id, account_id)
) partition by range (receipt_id);
-- Room for the updates of a receipt on its page. The weekly partitions have more, see create-partitions.ts.
create table receipts_default partition of receipts default with (fillfactor = 50);

-- The bodies as received, one row for all receipts of an account in one write batch: one insert and one index entry for all of them, and
-- bodies of one sender compress well together. Apart from the receipts, so that updates of these do not move them.
create table receipt_payloads (
  batch_id   uuid not null,
  account_id integer not null,
  bodies     bytea not null,
  primary key (batch_id, account_id)
) partition by range (batch_id);
-- Compressed bodies of up to a page stay in the row. Partitions do not inherit this.
create table receipt_payloads_default partition of receipt_payloads default with (toast_tuple_target = 8160);

-- Autovacuum by default waits until a fifth of a table is dead: of a billion keys that is 200 million.
create table idempotency_keys (
  account_id      integer not null,
  idempotency_key text collate "C" not null,
  receipt_id      uuid not null,
  created_at      timestamptz not null default now(),
  primary key (account_id, idempotency_key)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
-- Keys are removed by age. Not BRIN: new keys take the places of removed ones, so the rows are not in the order of their age.
create index idempotency_keys_by_time on idempotency_keys (created_at);

-- Of a dead receipt whose delivery had no source_order_id: stores the mapped body before the raw body, in a new payload row whose id is
-- of the same millisecond, so that both are dropped together. The old row has no other bodies. Returns false if it is another receipt, or
-- was mapped or erased meanwhile.
create function map_unmapped_receipt(of_account integer, of_receipt uuid, id text, mapped bytea, new_batch uuid, kind text)
returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  old receipts;
begin
  select * into old from receipts
  where receipt_id = of_receipt and account_id = of_account and state = 'dead' and error_code = 'mapping_failed' and raw_length is null
    and erased_at is null
  for update;
  if not found then return false; end if;
  with moved as (
    delete from receipt_payloads where batch_id = old.batch_id and account_id = of_account returning bodies
  )
  insert into receipt_payloads (batch_id, account_id, bodies) select new_batch, of_account, mapped || bodies from moved;
  if not found then return false; end if;
  update receipts
  set source_order_id = id, batch_id = new_batch, body_start = 1, body_length = length(mapped), raw_length = old.body_length,
      delivery_kind = kind
  where receipt_id = of_receipt and account_id = of_account;
  return true;
end
$$;
revoke all on function map_unmapped_receipt(integer, uuid, text, bytea, uuid, text) from public;

-- A row promises that the queue is woken up for these receipts until each of them is settled. See docs/decisions/receipts-and-queue.md.
-- The table is empty most of the time, so a share of its rows is no measure for autovacuum.
create table outbox (
  batch_id    uuid not null,
  receipt_ids uuid[] not null,
  due_at      timestamptz not null,
  -- The accounts of these receipts, or more.
  account_ids integer[] not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_insert_threshold = 100000, autovacuum_vacuum_cost_delay = 0);
create index outbox_by_batch on outbox (batch_id);
create index outbox_by_due on outbox (due_at);
create index outbox_by_account on outbox using gin (account_ids) with (fastupdate = on, gin_pending_list_limit = 256);

-- The receipts that are dead, and only those. An index on the state of receipts, even in its predicate, would end their HOT updates.
create table dead_letters (
  account_id      integer not null,
  receipt_id      uuid not null,
  error_code      text,
  source_order_id text collate "C" not null,
  died_at         timestamptz not null,
  primary key (account_id, receipt_id)
);
create index dead_letters_by_time on dead_letters (died_at, receipt_id);

create function keep_dead_letters() returns trigger language plpgsql as $$
begin
  if new.state = 'dead' then
    insert into dead_letters (account_id, receipt_id, error_code, source_order_id, died_at)
    values (new.account_id, new.receipt_id, new.error_code, new.source_order_id, new.updated_at)
    on conflict (account_id, receipt_id) do update set error_code = excluded.error_code, died_at = excluded.died_at;
  else
    delete from dead_letters where account_id = new.account_id and receipt_id = new.receipt_id;
  end if;
  return null;
end
$$;

-- The condition is checked at every update of a receipt, and the function runs only for dead ones. New partitions inherit the trigger.
create trigger keep_dead_letters after update on receipts
for each row when (new.state = 'dead' or old.state = 'dead') execute function keep_dead_letters();
