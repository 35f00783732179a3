import { type Database, run } from '../connect.ts';

/** What waits in Postgres, of all accounts. */
export interface Load {
  /** Receipts that are not final, those that wait for another attempt included. */
  waiting: number;
  /** Receipts that are `dead`. */
  dead: number;
  /** For how many seconds the receipt has been due that has been so the longest; 0 when none is. */
  oldestSeconds: number;
}

/** As far as promises and dead receipts are counted. A promise is for one receipt when few come, and for up to 500 under load. */
const LOAD_COUNTED_TO = 10_000;
/** Promises looked at for the oldest receipt, from either end, and receipts of each. */
const [OUTBOX_ROWS, RECEIPTS] = [25, 20];

const READ = {
  name: 'read-load',
  // A promise of many receipts lies in TOAST; reading 10,000 of them would be 80 MB. Their number follows from the size, which is known
  // without: 16 bytes for each id, after 20 (21 or 24 where it is short enough to stay in the row). Compressed ones have to be read.
  // Each part reads so many rows at most, in the order of an index. Those due longest are looked for both among the promises made first and
  // among those due first: the former may all wait for another attempt, the latter may just have been swept. A receipt that failed or was
  // redriven is due since then. The look-up is a subquery that is not flattened (offset 0), so that it goes by the key for each id, whatever
  // size the tables were planned for.
  text: `
select (
  select coalesce(sum(
    case when pg_column_compression(receipt_ids) is null then (pg_column_size(receipt_ids) - 20) / 16 else cardinality(receipt_ids) end
  ), 0)
  from (select receipt_ids from outbox order by due_at limit ${LOAD_COUNTED_TO}) as promised
)::int as waiting, (
  select count(*) from (select from dead_letters order by died_at, receipt_id limit ${LOAD_COUNTED_TO}) as counted
)::int as dead, (
  select greatest(0, coalesce(date_part('epoch', now() - min(receipt.due_since)), 0))
  from (
    (select receipt_ids from outbox order by batch_id limit ${OUTBOX_ROWS})
    union all (select receipt_ids from outbox order by due_at limit ${OUTBOX_ROWS})
  ) as promised
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
 * Reads what waits, at a cost that does not grow with what is stored: counts end at `LOAD_COUNTED_TO` rows.
 *
 * @throws {pg.DatabaseError} or the connection's error.
 */
export async function readLoad(database: Database): Promise<Load> {
  const [load] = await run<Load>(database, READ, []);
  return load as Load;
}
