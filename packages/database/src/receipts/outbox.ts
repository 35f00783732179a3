import { type Database, run } from '../connect.ts';

/** A batch of receipts that somebody has to ring for. */
export interface Batch {
  batchId: string;
  receiptIds: string[];
}

const SWEEP = {
  name: 'sweep-outbox',
  text: `
with due as materialized (
  select ctid from outbox where due_at <= now() order by due_at limit $1::int for update skip locked
)
update outbox set due_at = now() + $2::int * interval '1 ms'
where ctid = any(array(select ctid from due))
returning batch_id as "batchId", receipt_ids as "receiptIds"`,
};

/**
 * Takes up to `limit` batches that have waited too long; each comes up again after `leaseMs` milliseconds at the earliest.
 * Workers that sweep at once take different ones.
 */
export async function sweepOutbox(database: Database, limit: number, leaseMs: number): Promise<Batch[]> {
  return run<Batch>(database, SWEEP, [limit, leaseMs]);
}

const SETTLE = {
  name: 'settle-batch',
  // `offset 0` leaves the planner no way but to look up each receipt.
  text: `
with batch as materialized (
  select ctid, receipt_ids from outbox where batch_id = $1::uuid for update
), unsettled as materialized (
  select batch.ctid, array_agg(r.receipt_id order by r.receipt_id) as receipt_ids,
         min(case
               when r.state = 'normalized' and r.lease_id is not null then r.lease_expires_at
               when r.state = 'failed' then r.next_attempt_at + $2::int * interval '1 ms'
               else now() + $2::int * interval '1 ms'
             end) as due_at
  from batch cross join lateral unnest(batch.receipt_ids) as listed(receipt_id)
  cross join lateral (
    select * from receipts
    where receipt_id = listed.receipt_id and state in ('received', 'normalized', 'failed')
    offset 0
  ) as r
  group by batch.ctid
), settled as (
  delete from outbox o using batch
  where o.batch_id = $1::uuid and o.ctid = batch.ctid and not exists (select 1 from unsettled where unsettled.ctid = batch.ctid)
)
update outbox o set receipt_ids = unsettled.receipt_ids, due_at = unsettled.due_at
from unsettled where o.batch_id = $1::uuid and o.ctid = unsettled.ctid`,
};

/**
 * Strikes the settled receipts off a batch's promise; with none left the promise is gone. The rest is due for the sweeper as soon as a
 * lease on one of them runs out, or `graceMs` milliseconds after a bell should have been answered.
 */
export async function settleBatch(database: Database, batchId: string, graceMs: number): Promise<void> {
  await run(database, SETTLE, [batchId, graceMs]);
}
