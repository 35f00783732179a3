import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { findReceipt } from '@orders/database/receipts/find-receipt.ts';
import { withClient } from '@orders/test-services/databases.ts';
import { sweepOutbox } from '@orders/worker/receipts/outbox.ts';
import type pg from 'pg';
import { type Bench, haveFaults, ROUNDS, SECONDS } from '../bench.ts';
import { printProgress } from '../command-line.ts';
import { OURS } from '../contestants.ts';
import { type Cell, type Measurement, measure } from '../measure/measure.ts';
import { median } from '../measure/statistics.ts';
import { type Figure, renderFigures } from '../report/tables.ts';
import { describe } from '../rounds.ts';
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
function probe(databaseUrl: string): Promise<Probe> {
  return withClient(databaseUrl, async (client) => {
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
  });
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

const CONNECTIONS = 128;
const WORKER_COUNTS = [2, 4];

/** Measures the service alternately on an empty database and on one with millions of orders, and then with several workers. */
export const growth: Bench = {
  name: 'growth',
  description: 'Compares an empty database with one of millions of orders, and runs several workers on one queue.',
  options: [ROUNDS, SECONDS, ['--rows <number>', 'orders stored beforehand', 10_000_000]],
  async run(services, { rows, rounds, seconds, profile }) {
    const load = { kind: 'closed', connections: CONNECTIONS } as const;
    const measureOurs = async (what: string, cell: Partial<Cell> = {}) => {
      const measurement = await measure(services, { contestant: OURS, load, seconds, profileTo: profile, ...cell });
      printProgress(`    ${what}: ${describe(measurement)}`);
      return measurement;
    };
    printProgress(`Filling a database with ${rows.toLocaleString('en')} orders …`);
    const databaseUrl = await services.fresh('grown');
    await fill(databaseUrl, rows);
    const [empty, filled]: [Measurement[], Measurement[]] = [[], []];
    for (let round = 1; round <= rounds; round += 1) {
      printProgress(`Round ${round} of ${rounds}: empty, then filled …`);
      empty.push(await measureOurs('empty'));
      await services.fresh('grown');
      filled.push(await measureOurs('filled', { databaseUrl }));
    }
    const workers: Several[] = [];
    let emptyProbe: Probe | undefined;
    for (const count of WORKER_COUNTS) {
      const url = await services.fresh(`workers_${count}`);
      const measurement = await measureOurs(`${count} workers on one queue`, { databaseUrl: url, workers: count });
      workers.push({ workers: count, measurement, retried: await countRetried(url) });
      emptyProbe ??= await probe(url);
      await services.drop(url);
    }
    const probes = { empty: emptyProbe as Probe, filled: await probe(databaseUrl) };
    const ratio = median(filled.map(rateOf)) / median(empty.map(rateOf));
    const results = { rows, ratio, empty, filled, probes, workers };
    const all = [...empty, ...filled, ...workers.map(({ measurement }) => measurement)];
    return { text: render(results), results, hasFailed: haveFaults(all) };
  },
};

/** The results with several workers on one queue. */
interface Several {
  workers: number;
  measurement: Measurement;
  retried: number;
}

/** The number of receipts with more than one attempt or an expired lease. */
function countRetried(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      'select count(*)::int as tried_twice from receipts where attempts <> 1 or crashes > 0 or runs_alone',
    );
    return rows[0].tried_twice;
  });
}

const rateOf = ({ ordersPerSecond }: Measurement) => ordersPerSecond;

function render(results: {
  rows: number;
  ratio: number;
  empty: Measurement[];
  filled: Measurement[];
  probes: Record<'empty' | 'filled', Probe>;
  workers: Several[];
}): string {
  const { rows, ratio, empty, filled, probes, workers } = results;
  const stored = `${rows.toLocaleString('en')} orders stored`;
  const probeFigures = (where: string, { lookUpMs, partitionsPerLookUp, sweepMs }: Probe): Figure[] => [
    { what: `a look-up, ${where}: ms`, value: lookUpMs },
    { what: `partitions that a look-up reads, ${where}`, value: partitionsPerLookUp },
    { what: `a sweep, ${where}: ms`, value: sweepMs },
  ];
  const failed = workers.flatMap(({ measurement }) => measurement.faults).map((fault) => `FAILED: ${fault}`);
  const figures = renderFigures([
    { what: `${stored} ÷ empty, end-to-end orders/s`, value: ratio, enough: 0.8, goal: 0.95 },
    ...empty.map((one) => ({ what: 'empty: orders/s', value: rateOf(one) })),
    ...filled.map((one) => ({ what: `${stored}: orders/s`, value: rateOf(one) })),
    ...probeFigures('beside at most some hundred thousand receipts', probes.empty),
    ...probeFigures(stored, probes.filled),
    ...workers.flatMap(({ workers: count, measurement, retried }) => [
      { what: `${count} workers: orders/s`, value: rateOf(measurement) },
      { what: `${count} workers: deadlocks`, value: measurement.deadlocks },
      { what: `${count} workers: receipts tried twice`, value: retried },
    ]),
  ]);
  return [figures, ...failed].join('\n');
}
