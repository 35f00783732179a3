import type { Bench } from './bench.ts';
import { drawChart } from './chart.ts';
import { ALL, OURS, VALIDATING } from './contestants.ts';
import { createLargeOrderMaker, ORDER_SIZES, type OrderSize } from './large-orders.ts';
import { type Measurement, ROLES } from './measure.ts';
import { QUOTED_LOAD, runRounds } from './rounds.ts';
import { ratioByRound, renderRatio } from './statistics.ts';
import { changesOf, renderLoads, rowsOf, targetsOf } from './summary.ts';
import { digits, renderFigures, table } from './tables.ts';

const haveFaults = (measurements: readonly Measurement[]) => measurements.some(({ faults }) => faults.length > 0);

export const comparison: Bench = {
  name: 'npm run bench --',
  description: 'Measures the service side by side with comparable ones, on its own Postgres and Redis.',
  help: 'Exit code 0: measured, and this service wrote every order it accepted once. 1: not so, or it could not run. 2: wrong usage.',
  async run(services, options) {
    const { only = ALL, beside } = options;
    const contestants = beside ? [...only, beside] : only;
    const measurements = await runRounds(services, { ...options, contestants });
    const rows = rowsOf(measurements);
    const targets = [...targetsOf(measurements), ...(beside ? changesOf(measurements, beside.name) : [])];
    if (options.chart) await drawChart(rows, options.chart);
    const hasFailed = haveFaults(measurements.filter(({ contestant }) => contestant === OURS.name));
    const text = [renderLoads(rows), ...(targets.length > 0 ? [renderFigures(targets)] : [])].join('\n\n');
    return { text, results: { rows, targets, measurements }, hasFailed };
  },
};

const ONE = { ...OURS, name: 'one of each' };
const TWO = { ...OURS, name: 'two of each', replicas: 2 };

export const replicas: Bench = {
  name: 'replicas',
  description: 'Compares two intakes and two workers with one of each under the same load, alternately.',
  async run(services, options) {
    const measurements = await runRounds(services, { ...options, contestants: [ONE, TWO], loads: [QUOTED_LOAD] });
    const ratio = (metric: (measurement: Measurement) => number) =>
      renderRatio(ratioByRound(measurements, [TWO.name, ONE.name], metric));
    const text = [
      renderLoads(rowsOf(measurements)),
      `two ÷ one, end-to-end orders/s: ${ratio(({ ordersPerSecond }) => ordersPerSecond)} (enough 0.95, goal 1)`,
      `two ÷ one, CPU per order: ${ratio(serviceCpuSeconds)}`,
    ].join('\n\n');
    return { text, results: { measurements }, hasFailed: haveFaults(measurements) };
  },
};

/** Of all processes except the driver, per 1,000 orders. */
function serviceCpuSeconds({ cpuSecondsPer1000: { driver: _, ...cpu } }: Measurement): number {
  return Object.values(cpu).reduce((sum, seconds) => sum + seconds, 0);
}

/** The results for one size. */
interface LargeOrderResult {
  orderSize: OrderSize;
  /** The length of one body. */
  bytes: number;
  measurements: Measurement[];
}

const LARGE_CONNECTIONS = '32';

/** Measures the service and an Express app that validates alternately with orders of each size, in a closed loop. */
export const large: Bench = {
  name: 'large',
  description:
    'Sends orders of 64 KB, 256 KB and 1,000 items, and compares MB/s with an Express app that only validates.',
  async run(services, options) {
    const results: LargeOrderResult[] = [];
    for (const orderSize of ORDER_SIZES) {
      const plan = { ...options, contestants: [VALIDATING, OURS], loads: [LARGE_CONNECTIONS], orderSize };
      const bytes = Buffer.byteLength(createLargeOrderMaker(orderSize)('', 0));
      results.push({ orderSize, bytes, measurements: await runRounds(services, plan) });
    }
    const hasFailed = results.some(({ measurements }) => haveFaults(measurements));
    return { text: results.map(renderSize).join('\n\n'), results: { results }, hasFailed };
  },
};

function renderSize({ orderSize, bytes, measurements }: LargeOrderResult): string {
  const megabytes = bytes / 1e6;
  const ratio = (metric: (measurement: Measurement) => number) =>
    renderRatio(ratioByRound(measurements, [OURS.name, VALIDATING.name], metric));
  const accepted = ratio((one) => one.acceptedPerSecond);
  const endToEnd = ratio((one) => one.ordersPerSecond);
  const rows = rowsOf(measurements).map((row) => [
    row.contestant,
    digits(row.acceptedPerSecond * megabytes),
    row.faults[0] ? `FAILED: ${row.faults[0]}` : digits(row.ordersPerSecond * megabytes),
    ...ROLES.map((role) => digits(row.cpuSecondsPer1000[role] / megabytes)),
    digits(row.walBytesPerOrder / bytes),
  ]);
  const head = ['', 'accepted', 'end to end', ...ROLES, 'WAL bytes per byte'];
  return [
    `### Orders of ${orderSize} (${digits(bytes)} bytes), ${LARGE_CONNECTIONS} connections: MB/s, and milliseconds of CPU per MB`,
    table(head, rows),
    `ours ÷ validating: accepted ${accepted}, end to end ${endToEnd}`,
  ].join('\n\n');
}
