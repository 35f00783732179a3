import { type Connection, execute, run } from '../run.ts';
import type { DeliveryOutcome } from './add-activity.ts';

/** Deliveries to a source in the last seven days, today included. */
export interface SourceActivitySummary {
  source_number: number;
  /** The last delivery of any outcome, at any time. */
  last_at: Date;
  counts: Partial<Record<DeliveryOutcome, number>>;
}

/** A delivery as received. */
export interface StoredDelivery {
  receipt_id: string;
  received_at: Date;
  state: string;
  error_code: string | null;
  /** Its exact bytes. */
  raw: Buffer;
}

/** Summaries of the sources of an account that had deliveries. Counts are some seconds old. */
export async function readSourceActivity(connection: Connection, accountId: number): Promise<SourceActivitySummary[]> {
  return run<SourceActivitySummary>(
    connection,
    `select source_number, max(last_at) as last_at,
            coalesce(jsonb_object_agg(outcome, count) filter (where count > 0), '{}') as counts
     from (
       select source_number, outcome, max(last_at) as last_at,
              coalesce(sum(count) filter (where day > (now() at time zone 'utc')::date - 7), 0) as count
       from source_activity where account_id = $1 group by source_number, outcome
     ) as by_outcome
     group by source_number order by source_number`,
    [accountId],
  );
}

const FIND = `
with recent as (
  select distinct unnest(receipt_ids) as receipt_id from source_activity
  where account_id = $1::int and source_number = $2 and day > (now() at time zone 'utc')::date - 30
)
select r.receipt_id, r.received_at, r.state, case when r.state = 'dead' then r.error_code end as error_code, raw.bytes as raw
from (select receipt_id from recent order by receipt_id desc limit $3) as newest
cross join lateral (
  select * from receipts x
  where x.receipt_id = newest.receipt_id and x.account_id = $1::int and x.erased_at is null offset 0
) as r
cross join lateral (
  select substring(p.bodies
           from case when r.raw_length is null then r.body_start else r.body_start + r.body_length end
           for coalesce(r.raw_length, r.body_length)) as bytes
  from receipt_payloads p where p.batch_id = r.batch_id and p.account_id = r.account_id
) as raw
order by r.receipt_id desc`;

/** The newest deliveries to a source that have a receipt, newest first. Those whose customer was erased are left out. */
export async function findDeliveries(
  connection: Connection,
  accountId: number,
  sourceNumber: number,
  limit: number,
): Promise<StoredDelivery[]> {
  return run<StoredDelivery>(connection, FIND, [accountId, sourceNumber, limit]);
}

/** Dead receipts that are counted; one look-up each. */
const MAX_COUNTED = 10_000;

/** Numbers of dead receipts whose delivery could not be mapped, by the number of their source; of the newest 10,000. */
export async function countUnmapped(connection: Connection, accountId: number): Promise<Map<number, number>> {
  const rows = await run<{ source_number: number; count: number }>(
    connection,
    `select r.source_number, count(*)::int as count
     from (
       select receipt_id from dead_letters where account_id = $1::int and error_code = 'mapping_failed'
       order by receipt_id desc limit ${MAX_COUNTED}
     ) as d
     cross join lateral (
       select x.source_number from receipts x where x.receipt_id = d.receipt_id and x.account_id = $1::int offset 0
     ) as r
     where r.source_number is not null group by r.source_number`,
    [accountId],
  );
  return new Map(rows.map(({ source_number, count }) => [source_number, count]));
}

/** Deletes counts from before the last `keptDays` days. @returns the number of deleted rows. */
export async function pruneSourceActivity(connection: Connection, keptDays: number): Promise<number> {
  return execute(connection, "delete from source_activity where day < (now() at time zone 'utc')::date - $1::int", [
    keptDays,
  ]);
}
