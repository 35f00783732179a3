import type { Database } from '@orders/database/connect.ts';
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

const READ = {
  name: 'read-load',
  // Each part reads a bounded number of rows in index order.
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
  from (select receipt_ids from outbox order by due_at limit ${MAX_COUNTED}) as pending
)::int as waiting, (
  select count(*) from (select from dead_letters order by died_at, receipt_id limit ${MAX_COUNTED}) as counted
)::int as dead, (
  select greatest(0, coalesce(date_part('epoch', now() - min(receipt.due_since)), 0))
  from (
    (select receipt_ids from outbox order by batch_id limit ${OUTBOX_ROWS})
    union all (select receipt_ids from outbox order by due_at limit ${OUTBOX_ROWS})
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
) as "oldestSeconds"`,
};

/**
 * Reads the backlog at a bounded cost: counts stop at `MAX_COUNTED` rows.
 *
 * @throws {pg.DatabaseError} or the connection's error.
 */
export async function readLoad(database: Database): Promise<Load> {
  const [load] = await run<Load>(database, READ, []);
  return load as Load;
}
