/**
 * An account's outbox rows, and the resends of an order in the order in which they were received. The second takes the place of an index
 * by receipt id, whose order depends on the clocks of the intakes.
 */
export const name = '017-outbox-and-resends-indexes';

export const up = [
  'drop index concurrently if exists outbox_by_account',
  `create index concurrently outbox_by_account on outbox using gin (account_ids)
   with (fastupdate = on, gin_pending_list_limit = 256)`,
  'drop index concurrently if exists resends_by_time',
  `create index concurrently resends_by_time on resends (account_id, order_id, received_at, receipt_id)
   where changes is not null`,
  'drop index concurrently if exists resends_with_changes',
];
