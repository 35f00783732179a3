import { type Bench, haveFaults, ROUNDS, SECONDS } from '../bench.ts';
import { CEILING, OURS } from '../contestants.ts';
import { createLargeOrderMaker, ORDER_SIZES, type OrderSize } from '../load/large-orders.ts';
import { type Measurement, ROLES } from '../measure/measure.ts';
import { ratioByRound, renderRatio } from '../report/ratios.ts';
import { summarize } from '../report/summary.ts';
import { digits, table } from '../report/tables.ts';
import { runRounds } from '../rounds.ts';

/** The results for one size. */
interface LargeOrderResult {
  orderSize: OrderSize;
  /** The length of one body. */
  bytes: number;
  measurements: Measurement[];
}

const CONNECTIONS = '32';

/** Measures the service and the ceiling alternately with orders of each size, in a closed loop. */
export const large: Bench = {
  name: 'large',
  description:
    'Sends orders of 64 KB, 256 KB and 1,000 items, and compares MB/s with an Express app that only validates.',
  options: [ROUNDS, SECONDS],
  async run(services, options) {
    const results: LargeOrderResult[] = [];
    for (const orderSize of ORDER_SIZES) {
      const plan = { ...options, contestants: [CEILING, OURS], loads: [CONNECTIONS], orderSize };
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
    renderRatio(ratioByRound(measurements, [OURS.name, CEILING.name], metric));
  const accepted = ratio((one) => one.acceptedPerSecond);
  const endToEnd = ratio((one) => one.ordersPerSecond);
  const rows = summarize(measurements).rows.map((row) => [
    row.contestant,
    digits(row.acceptedPerSecond * megabytes),
    row.faults[0] ? `FAILED: ${row.faults[0]}` : digits(row.ordersPerSecond * megabytes),
    ...ROLES.map((role) => digits(row.cpuSecondsPer1000[role] / megabytes)),
    digits(row.walBytesPerOrder / bytes),
  ]);
  const head = ['', 'accepted', 'end to end', ...ROLES, 'WAL bytes per byte'];
  return [
    `### Orders of ${orderSize} (${digits(bytes)} bytes), ${CONNECTIONS} connections: MB/s, and milliseconds of CPU per MB`,
    table(head, rows),
    `ours ÷ ceiling, which checks only the id: accepted ${accepted}, end to end ${endToEnd}`,
  ].join('\n\n');
}
