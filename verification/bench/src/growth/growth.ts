import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { findReceipt } from '@orders/database/receipts/find-receipt.ts';
import { sweepOutbox } from '@orders/worker/receipts/outbox.ts';
import pg from 'pg';
import { OURS } from '../contestants.ts';
import { type Measurement, measure } from '../measure/measure.ts';
import { median } from '../measure/statistics.ts';
import { describe } from '../rounds.ts';
import type { Services } from '../services.ts';
import { fill } from './fill.ts';

/** The cost of single statements in milliseconds. */
interface Probe {
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
async function probe(databaseUrl: string): Promise<Probe> {
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

export interface GrowthPlan {
  rows: number;
  rounds: number;
  seconds: number;
}

export interface Growth {
  rows: number;
  /** End-to-end orders per second, filled ÷ empty: the ratio of the medians. */
  ratio: number;
  empty: Measurement[];
  filled: Measurement[];
  probes: { empty: Probe; filled: Probe };
  /** Results with several workers on one queue. */
  workers: { workers: number; measurement: Measurement; retried: number }[];
}

const CONNECTIONS = 128;
const WORKER_COUNTS = [2, 4];

/** Measures the service alternately on an empty database and on one with millions of orders, and then with several workers. */
export async function runGrowth(
  services: Services,
  plan: GrowthPlan,
  printProgress: (text: string) => void,
): Promise<Growth> {
  const { rows, rounds, seconds } = plan;
  const cell = {
    contestant: OURS,
    load: { kind: 'closed' as const, connections: CONNECTIONS },
    seconds,
  };
  printProgress(`Filling a database with ${rows.toLocaleString('en')} orders …`);
  const databaseUrl = await services.fresh('grown');
  await fill(databaseUrl, rows, printProgress);

  const empty: Measurement[] = [];
  const filled: Measurement[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    printProgress(`Round ${round} of ${rounds}: empty, then filled …`);
    empty.push(await measure(services, cell));
    printProgress(`    empty: ${describe(empty.at(-1) as Measurement)}`);
    await services.fresh('grown');
    filled.push(await measure(services, { ...cell, databaseUrl }));
    printProgress(`    filled: ${describe(filled.at(-1) as Measurement)}`);
  }
  const rate = (measurements: Measurement[]) => median(measurements.map(({ ordersPerSecond }) => ordersPerSecond));

  const workers: Growth['workers'] = [];
  let emptyProbe: Probe | null = null;
  for (const count of WORKER_COUNTS) {
    printProgress(`${count} workers on one queue …`);
    const url = await services.fresh(`workers_${count}`);
    const measurement = await measure(services, { ...cell, databaseUrl: url, workers: count });
    workers.push({ workers: count, measurement, retried: await countRetried(url) });
    printProgress(`    ${describe(measurement)}`);
    emptyProbe ??= await probe(url);
    await services.drop(url);
  }
  const probes = { empty: emptyProbe as Probe, filled: await probe(databaseUrl) };
  return { rows, ratio: rate(filled) / rate(empty), empty, filled, probes, workers };
}

/** The number of receipts with more than one attempt or an expired lease. */
async function countRetried(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      'select count(*)::int as tried_twice from receipts where attempts <> 1 or crashes > 0 or runs_alone',
    );
    return rows[0].tried_twice;
  } finally {
    await client.end();
  }
}

/** Formats the results, one per line. */
export function renderGrowth({ rows, ratio, empty, filled, probes, workers }: Growth): string {
  const rates = (measurements: Measurement[]) =>
    measurements.map(({ ordersPerSecond }) => Math.round(ordersPerSecond).toLocaleString('en')).join(', ');
  const probeLine = ({ lookUpMs, partitionsPerLookUp, sweepMs }: Probe) =>
    `a look-up ${lookUpMs.toFixed(2)} ms, reading ${partitionsPerLookUp.toFixed(2)} partitions; a sweep ${sweepMs.toFixed(2)} ms`;
  return [
    `With ${rows.toLocaleString('en')} orders stored ÷ empty, end-to-end orders/s: ${ratio.toFixed(2)} (enough 0.8, goal 0.95)`,
    `  empty:  ${rates(empty)} orders/s`,
    `  filled: ${rates(filled)} orders/s`,
    `Beside at most some hundred thousand receipts: ${probeLine(probes.empty)}`,
    `Beside ${rows.toLocaleString('en')}: ${probeLine(probes.filled)}`,
    ...workers.map(
      ({ workers: count, measurement, retried }) =>
        `${count} workers: ${rates([measurement])} orders/s, ${measurement.deadlocks} deadlocks, ${retried} receipts tried twice` +
        (measurement.faults.length > 0 ? `, FAILED: ${measurement.faults.join('; ')}` : ''),
    ),
  ].join('\n');
}
