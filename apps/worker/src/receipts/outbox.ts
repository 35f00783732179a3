import type { Database } from '@orders/database/connect.ts';
import { dueFrom, type LowerBound, NO_LOWER_BOUND } from '@orders/database/lower-bound.ts';
import { ascending, idIn } from '@orders/database/receipts/uuids.ts';
import { run } from '@orders/database/run.ts';

/** An outbox row: a batch with pending receipts. */
export interface Batch {
  batchId: string;
  receiptIds: string[];
}

/** Overdue rows among which those to take are chosen; oldest first. */
const CHOSEN_AMONG = 2000;

/** A row that is locked, or committed later than this after it was due, is found by a full scan. */
const LATE_SECONDS = 5;

const SWEEP = {
  name: 'sweep-outbox',
  text: `
with due as materialized (
  select row_id, due_at, row_number() over (partition by account_ids[1] order by due_at) as turn
  from (select ctid as row_id, account_ids, due_at from outbox
        where due_at <= now() and ${dueFrom('$3')} order by due_at limit ${CHOSEN_AMONG}) as oldest
), taken as materialized (
  select ctid as row_id from outbox
  where ctid = any(array(select row_id from due order by turn, due_at limit $1::int))
  for update skip locked
), swept as (
  update outbox set due_at = now() + $2::int * interval '1 ms'
  where ctid = any(array(select row_id from taken))
  returning batch_id, receipt_ids
)
select batch_id as "batchId", receipt_ids as "receiptIds", null as "emptyBefore" from swept
union all
select null, null, (now() - interval '${LATE_SECONDS} seconds')::text`,
};

/**
 * Takes up to `limit` overdue batches, of the oldest those of each account in turn, and makes them due again in `leaseMs` milliseconds.
 * Concurrent sweeps take different batches. An intake's batch can have several accounts; it counts as one of the first.
 *
 * @returns them in the order in which they were received.
 */
export async function sweepOutbox(
  database: Database,
  limit: number,
  leaseMs: number,
  bound: LowerBound = NO_LOWER_BOUND,
): Promise<Batch[]> {
  type Row = Partial<Batch> & { emptyBefore: string | null };
  const rows = await run<Row>(database, SWEEP, [limit, leaseMs, bound.next()]);
  const batches = rows.flatMap(({ batchId, receiptIds }) => (batchId && receiptIds ? [{ batchId, receiptIds }] : []));
  if (batches.length < limit) bound.move(rows.find(({ emptyBefore }) => emptyBefore !== null)?.emptyBefore ?? null);
  return batches.sort((a, b) => (a.batchId < b.batchId ? -1 : 1));
}

const FIND_OUTBOX_ROWS = {
  name: 'find-outbox-rows',
  text: 'select receipt_ids as "receiptIds" from outbox where batch_id = $1::uuid',
};

const SETTLE = {
  name: 'settle-outbox-row',
  // Changes only a row that is as it was read; otherwise another worker has settled it. The ids are a parameter and are not read from the
  // locked row, for the reason given at `selectPicked`.
  text: `
with unsettled as materialized (
  select array_agg(receipt_id order by receipt_id) as receipt_ids,
         min(case
               when state = 'normalized' and lease_id is not null then lease_expires_at
               when state = 'failed' then next_attempt_at + $3::int * interval '1 ms'
               else now() + $3::int * interval '1 ms'
             end) as due_at
  from receipts
  where ${idIn('receipt_id', '$4')} and state in ('received', 'normalized', 'failed')
), settled as (
  delete from outbox o using unsettled
  where o.batch_id = $1::uuid and o.receipt_ids = $2::uuid[] and unsettled.receipt_ids is null
)
update outbox o set receipt_ids = unsettled.receipt_ids, due_at = unsettled.due_at
from unsettled
where o.batch_id = $1::uuid and o.receipt_ids = $2::uuid[] and unsettled.receipt_ids is not null`,
};

/**
 * Removes settled receipts from a batch's outbox rows and deletes empty rows. The rest is due for the sweeper when a lease on one of its
 * receipts expires, or `graceMs` milliseconds after a wake-up should have been processed.
 */
export async function settleBatch(database: Database, batchId: string, graceMs: number): Promise<void> {
  for (const { receiptIds } of await run<{ receiptIds: string[] }>(database, FIND_OUTBOX_ROWS, [batchId])) {
    await run(database, SETTLE, [batchId, receiptIds, graceMs, ascending(receiptIds)]);
  }
}
