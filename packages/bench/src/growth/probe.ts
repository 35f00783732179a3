import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { findReceipt } from '@orders/database/receipts/find-receipt.ts';
import { sweepOutbox } from '@orders/worker/receipts/outbox.ts';
import pg from 'pg';
import { median } from '../measure/statistics.ts';

/** The cost of single statements in milliseconds. */
export interface Probe {
  /** The median of a look-up of one receipt of any age. */
  lookUpMs: number;
  /** The number of partitions that one look-up reads. */
  partitionsPerLookUp: number;
  /** The median of a sweep without work. */
  sweepMs: number;
}

const LOOK_UPS = 1000;
const SWEEPS = 100;

/** Looks up receipts spread over all weeks, and sweeps. */
export async function probe(databaseUrl: string): Promise<Probe> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // One id of each range in the index, so that all weeks are included.
    const { rows } = await client.query(
      `select r.receipt_id, r.account_id from generate_series(0, $1::int - 1) as n
       cross join lateral (
         select receipt_id, account_id from receipts
         where receipt_id >= (lpad(to_hex((extract(epoch from now() - interval '90 days' * n / $1) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
         order by receipt_id limit 1
       ) r`,
      [LOOK_UPS],
    );
    const scansBefore = await indexScans(client);
    const database = openDatabase({ url: databaseUrl, poolSize: 1, prepared: true });
    const lookUps: number[] = [];
    for (const { receipt_id, account_id } of rows) {
      lookUps.push(await timed(() => findReceipt(database, account_id, receipt_id)));
    }
    const sweeps: number[] = [];
    while (sweeps.length < SWEEPS) sweeps.push(await timed(() => sweepOutbox(database, 200, 15_000)));
    // Its statistics arrive at the end of its connection at the latest.
    await closeDatabase(database);
    return {
      lookUpMs: median(lookUps),
      partitionsPerLookUp: ((await indexScans(client)) - scansBefore) / rows.length,
      sweepMs: median(sweeps),
    };
  } finally {
    await client.end();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function indexScans(client: pg.Client): Promise<number> {
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query(
    "select sum(idx_scan)::int as scans from pg_stat_user_indexes where indexrelname like 'receipts\\_%\\_pkey'",
  );
  return rows[0].scans;
}
