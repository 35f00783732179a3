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
