import { CEILING, type Contestant, OURS } from '../contestants.ts';
import { createLargeOrderMaker, ORDER_SIZES, type OrderSize } from '../load/large-orders.ts';
import { type Measurement, ROLES } from '../measure/measure.ts';
import { ratioByRound, renderRatio } from '../report/ratios.ts';
import { summarize } from '../report/summary.ts';
import { digits, table } from '../report/tables.ts';
import { runRounds, type Timing } from '../rounds.ts';
import type { Services } from '../services.ts';

/** The results for one size. */
export interface LargeOrderResult {
  orderSize: OrderSize;
  /** The length of one body. */
  bytes: number;
  measurements: Measurement[];
}

const CONNECTIONS = '32';

/** Measures the service and the ceiling alternately with orders of each size, in a closed loop. */
export async function runLarge(
  services: Services,
  plan: Timing,
  printProgress: (text: string) => void,
): Promise<LargeOrderResult[]> {
  const results: LargeOrderResult[] = [];
  for (const orderSize of ORDER_SIZES) {
    const contestants = [CEILING, OURS];
    const measurements = await runRounds(
      services,
      { ...plan, contestants, loads: [CONNECTIONS], orderSize },
      printProgress,
    );
    results.push({ orderSize, bytes: Buffer.byteLength(createLargeOrderMaker(orderSize)('', 0)), measurements });
  }
  return results;
}

/** Formats the results as Markdown tables. */
export function renderLarge(results: readonly LargeOrderResult[]): string {
  return results.map(renderSize).join('\n\n');
}

function renderSize({ orderSize, bytes, measurements }: LargeOrderResult): string {
  const megabytes = bytes / 1e6;
  const ratios = (base: Contestant) => {
    const ratio = (metric: (measurement: Measurement) => number) =>
      renderRatio(ratioByRound(measurements, [OURS.name, base.name], metric));
    return `ours ÷ ${base.name}: accepted ${ratio((one) => one.acceptedPerSecond)}, end to end ${ratio((one) => one.ordersPerSecond)}`;
  };
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
    `${ratios(CEILING)}, which checks only the id`,
  ].join('\n\n');
}
