import type { Database } from '../connect.ts';
import { run } from '../run.ts';

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
