-- What was sent again of an order that existed: each receipt that ended as `duplicate`, and its differences. Not part of the receipt, so
-- that writing a new order costs nothing for it. See docs/decisions/duplicates-and-changed-deliveries.md.
create table changed_deliveries (
  account_id  integer not null,
  order_id    bigint not null,
  receipt_id  uuid not null,
  -- The receipt's, by the clock of Postgres: the newest changed delivery of an order is the one received last.
  received_at timestamptz not null default now(),
  -- For reviewers' pages, which ask for those of the last seconds; received_at can be long before.
  stored_at   timestamptz not null default clock_timestamp(),
  -- The differences from the order as first sent, [{ pointer, from, to }] in normalized values, without those that are too long; null if
  -- there are none.
  changes     jsonb,
  decision    text check (decision in ('accepted', 'refused')),
  decided_by  text,
  decided_at  timestamptz,
  primary key (account_id, order_id, receipt_id)
);
-- Most changed deliveries have no changes, and an order may have thousands.
create index changed_deliveries_by_time on changed_deliveries (account_id, order_id, received_at, receipt_id) where changes is not null;
create index changed_deliveries_by_stored_at on changed_deliveries (account_id, stored_at) where changes is not null;
