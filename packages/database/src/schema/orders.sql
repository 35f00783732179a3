-- Orders, one a key of account and source_order_id. docs/decisions/review.md describes how the review list reads them.

create sequence order_ids as bigint;

-- A row with the state cancellation_held is no order: it occupies the key for an order that is cancelled and has not arrived.
-- See docs/decisions/dispatching-and-cancelling.md.
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
                        check (review_state in ('needs_review', 'confirmed', 'rejected', 'cancelled', 'cancellation_held')),
  reviewed_by           text,
  reviewed_at           timestamptz,
  review_reason         text,
  -- The transaction that confirmed the order; dispatching follows the confirmations by it.
  confirmed_xid         xid8,
  -- The time of modification in the newest delivery that cancelled the order, by its platform's clock; null if it has none.
  platform_cancelled_at timestamptz,
  received_at           timestamptz not null,
  written_at            timestamptz not null default now(),
  -- When its personal data was removed. See docs/decisions/erasure.md.
  erased_at             timestamptz,
  primary key (account_id, order_id),
  unique (account_id, source_order_id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.01);
create index orders_needing_review on orders (account_id, order_id) where review_state = 'needs_review';
create index orders_reviewed on orders (account_id, review_state, order_id) where review_state <> 'needs_review';
-- For dispatchable_orders: its cursor, and the confirmations that can still be taken back.
create index orders_confirmed on orders (confirmed_xid, order_id) where review_state = 'confirmed';
create index orders_just_confirmed on orders (reviewed_at) where review_state = 'confirmed';
-- For the retention of held cancellations.
create index orders_cancellation_held on orders (reviewed_at) where review_state = 'cancellation_held';
