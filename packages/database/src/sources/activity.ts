import type { DeliveryKind } from '@orders/domain/sources/delivery-kind.ts';
import type { Database } from '../connect.ts';
import { type Connection, execute, run } from '../run.ts';

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
  /** The id of its receipt if its source found none. */
  source_order_id: string;
  delivery_kind: DeliveryKind;
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

/** SQL: the deliveries to source $2 of account $1 among these receipts. */
const deliveriesAmong = (receiptIds: string) => `
select r.receipt_id, r.received_at, r.state, case when r.state = 'dead' then r.error_code end as error_code, r.source_order_id,
       r.delivery_kind, raw.bytes as raw
from (${receiptIds}) as wanted
cross join lateral (
  select * from receipts x
  where x.receipt_id = wanted.receipt_id and x.account_id = $1::int and x.source_number = $2 and x.erased_at is null offset 0
) as r
cross join lateral (
  select substring(p.bodies
           from case when r.raw_length is null then r.body_start else r.body_start + r.body_length end
           for coalesce(r.raw_length, r.body_length)) as bytes
  from receipt_payloads p where p.batch_id = r.batch_id and p.account_id = r.account_id
) as raw
order by r.receipt_id desc`;

const FIND_NEWEST = deliveriesAmong(`
  select distinct unnest(receipt_ids) as receipt_id from source_activity
  where account_id = $1::int and source_number = $2 and day > (now() at time zone 'utc')::date - 30
  order by receipt_id desc limit $3`);

/** The newest deliveries to a source that have a receipt, newest first. Those whose customer was erased are left out. */
export async function findDeliveries(
  connection: Connection,
  accountId: number,
  sourceNumber: number,
  limit: number,
): Promise<StoredDelivery[]> {
  return run<StoredDelivery>(connection, FIND_NEWEST, [accountId, sourceNumber, limit]);
}

const FIND_ONE = deliveriesAmong('select $3::uuid as receipt_id');

/** A delivery to a source; null if its receipt is not of this source, no longer exists, or its customer was erased. */
export async function findDelivery(
  connection: Connection,
  accountId: number,
  sourceNumber: number,
  receiptId: string,
): Promise<StoredDelivery | null> {
  const [delivery] = await run<StoredDelivery>(connection, FIND_ONE, [accountId, sourceNumber, receiptId]);
  return delivery ?? null;
}

/** Dead receipts that are looked up, one by one. */
const MAX_COUNTED = 10_000;

/** SQL: the newest dead receipts of account $1 whose delivery could not be mapped, with the number of their source. */
const UNMAPPED = `(
  select receipt_id from dead_letters where account_id = $1::int and error_code = 'mapping_failed'
  order by receipt_id desc limit ${MAX_COUNTED}
) as d
cross join lateral (
  select x.source_number, x.erased_at from receipts x where x.receipt_id = d.receipt_id and x.account_id = $1::int offset 0
) as r`;

/** Numbers of dead receipts whose delivery could not be mapped, by the number of their source; of the newest 10,000. */
export async function countUnmapped(connection: Connection, accountId: number): Promise<Map<number, number>> {
  const rows = await run<{ source_number: number; count: number }>(
    connection,
    `select r.source_number, count(*)::int as count from ${UNMAPPED}
     where r.source_number is not null group by r.source_number`,
    [accountId],
  );
  return new Map(rows.map(({ source_number, count }) => [source_number, count]));
}

/** The receipt of the newest delivery to a source that could not be mapped, of the newest 10,000 of the account; null without one. */
export async function findNewestUnmapped(
  connection: Connection,
  accountId: number,
  sourceNumber: number,
): Promise<string | null> {
  const [row] = await run<{ receipt_id: string }>(
    connection,
    `select d.receipt_id from ${UNMAPPED}
     where r.source_number = $2 and r.erased_at is null order by d.receipt_id desc limit 1`,
    [accountId, sourceNumber],
  );
  return row?.receipt_id ?? null;
}

/** Deletes counts from before the last `keptDays` days. @returns the number of deleted rows. */
export async function pruneSourceActivity(connection: Connection, keptDays: number): Promise<number> {
  return execute(connection, "delete from source_activity where day < (now() at time zone 'utc')::date - $1::int", [
    keptDays,
  ]);
}

/** The outcome of a delivery to a source. `mapping_failed`: it is kept as a dead receipt. `rejected`: it was not authentic. */
export const DELIVERY_OUTCOMES = [
  'order',
  'unpaid',
  'test',
  'cancellation',
  'finished',
  'ping',
  'ignored',
  'mapping_failed',
  'rejected',
] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** A number of deliveries to a source with the same outcome. */
export interface DeliveryCount {
  accountId: number;
  sourceNumber: number;
  outcome: DeliveryOutcome;
  count: number;
  /** The last few, newest first. */
  receiptIds: string[];
}

/** Receipts kept for each source, day and outcome. */
export const KEPT_DELIVERIES = 10;

const ADD = {
  name: 'add-source-activity',
  // In key order, so that two intakes do not deadlock.
  text: `
insert into source_activity as a (account_id, source_number, day, outcome, count, last_at, receipt_ids)
select account_id, source_number, (now() at time zone 'utc')::date, outcome, count, now(), string_to_array(receipt_ids, ',')::uuid[]
from unnest($1::int[], $2::int[], $3::text[], $4::int[], $5::text[]) as i(account_id, source_number, outcome, count, receipt_ids)
order by account_id, source_number, outcome
on conflict (account_id, source_number, day, outcome)
do update set count = a.count + excluded.count, last_at = excluded.last_at,
  receipt_ids = (excluded.receipt_ids || a.receipt_ids)[1:${KEPT_DELIVERIES}]`,
};

/** Adds to today's counts of sources. @param counts one for each source and outcome. */
export async function addSourceActivity(database: Database, counts: readonly DeliveryCount[]): Promise<void> {
  await run(database, ADD, [
    counts.map(({ accountId }) => accountId),
    counts.map(({ sourceNumber }) => sourceNumber),
    counts.map(({ outcome }) => outcome),
    counts.map(({ count }) => count),
    counts.map(({ receiptIds }) => receiptIds.join(',')),
  ]);
}
