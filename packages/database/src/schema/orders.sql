-- Orders, and the keys that keep each from being written twice. docs/decisions/review.md describes how the review list reads orders.

-- One row for each account and source_order_id, kept for good: an order is written with its key, and its key stays when the order goes, but for those of test accounts.
-- Until an order arrives, its key can hold a cancellation. See docs/decisions/dispatching-and-cancelling.md.
create table order_keys (
  -- Null while a cancellation is held.
  order_id              bigint,
  account_id            integer not null,
  source_order_id       text collate "C" not null,
  -- The held cancellation: who, when, why, and the time of modification by the platform's clock.
  held_by               text,
  held_at               timestamptz,
  held_reason           text,
  platform_cancelled_at timestamptz,
  primary key (account_id, source_order_id),
  check ((order_id is null) = (held_at is not null))
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.01);
-- For the retention of held cancellations.
create index order_keys_held on order_keys (held_at) where order_id is null;

create sequence order_ids as bigint;

-- Partitioned by ranges of ids, see order_ranges.
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
  payment_state         text check (payment_state in ('paid', 'unpaid', 'cash_on_delivery', 'refunded')),
  delivery_time         text,
  delivery_method       text check (delivery_method in ('delivery', 'pickup')),
  delivery_instructions text,
  -- A line `label: value` for each fact that has no column.
  details               text,
  warnings              jsonb not null,
  -- By `severityOf`, when the order was written or edited; `orders orders update-severity` applies changed rules.
  severity              text not null check (severity in ('blocks', 'check', 'corrected', 'none')),
  -- A test of its platform, which is never dispatched.
  is_test               boolean not null default false,
  -- The source that sent it; null for an order of another way.
  source_number         integer,
  review_state          text not null default 'needs_review'
                        check (review_state in ('needs_review', 'awaiting_payment', 'confirmed', 'rejected', 'cancelled')),
  reviewed_by           text,
  reviewed_at           timestamptz,
  review_reason         text,
  -- By its platform's clock: when it changed the order as first received, and last cancelled it; null if it does not say.
  platform_modified_at  timestamptz,
  platform_cancelled_at timestamptz,
  received_at           timestamptz not null,
  written_at            timestamptz not null default now(),
  -- When its personal data was removed. See docs/decisions/erasure.md.
  erased_at             timestamptz,
  primary key (account_id, order_id)
) partition by range (order_id);
create index orders_needing_review on orders (account_id, order_id) where review_state = 'needs_review';
create index orders_reviewed on orders (account_id, review_state, order_id) where review_state <> 'needs_review';
-- The customer's earlier orders. The decision makes the entry, so that the write of an order to review does not pay for it.
create index orders_by_phone on orders (account_id, customer_phone, order_id)
where review_state <> 'needs_review' and customer_phone is not null;

-- The ranges that ids were taken from, one a month, so that a partition has the orders of one month.
create table order_ranges (
  first_id       bigint primary key,
  began_at       timestamptz not null default now(),
  -- Of the file in which `orders archive` stored the orders of this range: its name, how many it has, and SHA-256 of its lines.
  archived_at    timestamptz,
  archive_name   text,
  archive_orders bigint,
  archive_sha256 text,
  -- When the partition was dropped; the orders are in the file alone since then.
  dropped_at     timestamptz
);

-- What a trigger on a partition does while it is archived.
create function keep_archived_orders() returns trigger language plpgsql as $$
begin
  raise exception 'this order is being archived' using errcode = 'object_in_use';
end
$$;

-- Ids in a range. A month with more orders goes on in the next range.
create function order_range_width() returns bigint language sql immutable parallel safe return 100000000;

-- Makes the partitions of the range of an id and of the next range, by default of those that new ids come from, and returns the names of the
-- new ones. Blocks only another change of partitions, as there is no default partition that Postgres would have to scan.
create function make_order_partitions(of_id bigint default null) returns setof text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  current_id bigint;
  first_id bigint;
  name text;
begin
  lock table only orders in share update exclusive mode;
  select coalesce(of_id, last_value) into current_id from order_ids;
  current_id := current_id - current_id % order_range_width();
  foreach first_id in array array[current_id, current_id + order_range_width()] loop
    name := 'orders_' || first_id;
    continue when to_regclass(name) is not null;
    execute format(
      'create table %I (like orders including defaults including constraints including storage including compression) '
      'with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000, '
      'autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.01)', name);
    execute format('alter table orders attach partition %I for values from (%s) to (%s)', name, first_id, first_id + order_range_width());
    return next name;
  end loop;
end
$$;

-- Once a month, continues with the ids of the next range. Its partition must have been committed, as others take ids from it at once.
-- Returns whether it did. The lock keeps two callers from moving the sequence back.
create function begin_order_range() returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  current_id bigint;
  began_at timestamptz;
begin
  lock table order_ranges in exclusive mode;
  select last_value - last_value % order_range_width() into current_id from order_ids;
  insert into order_ranges (first_id) values (current_id) on conflict do nothing;
  select r.began_at into began_at from order_ranges r where r.first_id = current_id;
  if date_trunc('month', began_at, 'UTC') >= date_trunc('month', now(), 'UTC') then return false; end if;
  perform setval('order_ids', current_id + order_range_width(), false);
  insert into order_ranges (first_id) values (current_id + order_range_width()) on conflict do nothing;
  return true;
end
$$;
revoke all on function make_order_partitions(bigint), begin_order_range() from public;
