import { UNATTENDED_ACCOUNTS } from '@orders/database/accounts/test-accounts.ts';
import type { Database } from '@orders/database/connect.ts';
import { dueFrom, type LowerBound, NO_LOWER_BOUND } from '@orders/database/lower-bound.ts';
import { run } from '@orders/database/run.ts';

/** The backlog of all accounts. */
export interface Load {
  /** Receipts that are not final, including those that wait for a retry. */
  waiting: number;
  /** Receipts that are `dead`. */
  dead: number;
  /** How long the longest-due receipt has been due, in seconds; 0 when none is due. */
  oldestSeconds: number;
}

/** Counts of outbox rows and dead receipts stop here. A row has one receipt at low load, and up to 500 at high load. */
const MAX_COUNTED = 10_000;
/** To find the oldest receipt: outbox rows read by age and by due time, each, and receipts looked up per row. */
const [OUTBOX_ROWS, RECEIPTS] = [25, 20];

/** Rows of the outbox that a read can pass over: see `LowerBound`. */
const IS_LEFT = dueFrom('$1');
const IS_OLD = "batch_id >= coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')";
/** A batch is in the outbox this long after it was due, if it is committed late. */
const LATE_SECONDS = 5;

const READ = {
  name: 'read-load',
  // Each part reads a bounded number of rows in index order. Limits are parameters: with a constant, Postgres would sort what it expects
  // to be few rows behind a bound.
  // `waiting`: an outbox row with many receipts is in TOAST, and reading 10,000 of them would be 80 MB. So the number of ids is computed from
  // the stored size: 16 bytes per id after a header of 20 (21 or 24 if inline). Compressed arrays must be read.
  // `oldestSeconds`: receipts are looked up in the oldest rows, which may all wait for a retry, and in the rows due first, which may just
  // have been swept. A receipt that failed or was redriven is due since then. `offset 0` makes it one lookup by key per id, whatever table
  // size the plan assumes.
  text: `
select (
  select coalesce(sum(
    case when pg_column_compression(receipt_ids) is null then (pg_column_size(receipt_ids) - 20) / 16 else cardinality(receipt_ids) end
  ), 0)
  from (select receipt_ids from outbox where ${IS_LEFT} order by due_at limit $3::int) as pending
)::int as waiting, (
  select count(*) from (
    select from dead_letters where account_id not in (${UNATTENDED_ACCOUNTS}) order by died_at, receipt_id limit ${MAX_COUNTED}
  ) as counted
)::int as dead, (
  select greatest(0, coalesce(date_part('epoch', now() - min(receipt.due_since)), 0))
  from (
    (select receipt_ids from outbox where ${IS_OLD} order by batch_id limit $4::int)
    union all (select receipt_ids from outbox where ${IS_LEFT} order by due_at limit $4::int)
  ) as pending
  cross join lateral unnest(receipt_ids[1:${RECEIPTS}]) as id
  cross join lateral (
    select greatest(received_at, next_attempt_at, (
             select max(greatest((event ->> 'failed_at')::timestamptz, (event ->> 'redriven_at')::timestamptz))
             from jsonb_array_elements(history) as event
           )) as due_since
    from receipts
    where receipt_id = id
      and (state in ('received', 'normalized') or (state = 'failed' and next_attempt_at <= now()))
    offset 0
  ) as receipt
) as "oldestSeconds", (
  select coalesce(min(due_at), now() - interval '${LATE_SECONDS} seconds')::text
  from (select due_at from outbox where ${IS_LEFT} order by due_at limit 1) as first
) as "firstDue", (
  select batch_id::text from outbox where ${IS_OLD} order by outbox.batch_id limit 1
) as "firstBatch"`,
};

/**
 * Reads the backlog at a bounded cost: counts stop at `MAX_COUNTED` rows.
 *
 * @throws {pg.DatabaseError} or the connection's error.
 */
export async function readLoad(
  database: Database,
  { due, batches }: { due: LowerBound; batches: LowerBound } = { due: NO_LOWER_BOUND, batches: NO_LOWER_BOUND },
): Promise<Load> {
  type Row = Load & { firstDue: string; firstBatch: string | null };
  const [{ firstDue, firstBatch, ...load }] = (await run<Row>(database, READ, [
    due.next(),
    batches.next(),
    MAX_COUNTED,
    OUTBOX_ROWS,
  ])) as [Row];
  due.move(firstDue);
  batches.move(firstBatch);
  return load;
}
