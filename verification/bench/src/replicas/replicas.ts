import { OURS } from '../contestants.ts';
import type { Measurement } from '../measure/measure.ts';
import { ratioByRound, renderRatio, serviceCpuMicroseconds } from '../report/ratios.ts';
import { summarize } from '../report/summary.ts';
import { renderTables } from '../report/tables.ts';
import { QUOTED_LOAD, runRounds, type Timing } from '../rounds.ts';
import type { Services } from '../services.ts';

const ONE = { ...OURS, name: 'one of each' };
const TWO = { ...OURS, name: 'two of each', replicas: 2 };

/** Measures one intake and one worker, and two of each, alternately under the same load. */
export async function runReplicas(
  services: Services,
  plan: Timing,
  printProgress: (text: string) => void,
): Promise<Measurement[]> {
  return runRounds(services, { ...plan, contestants: [ONE, TWO], loads: [QUOTED_LOAD] }, printProgress);
}

/** Formats the results as Markdown. */
export function renderReplicas(measurements: readonly Measurement[]): string {
  const ratio = (metric: (measurement: Measurement) => number) =>
    renderRatio(ratioByRound(measurements, [TWO.name, ONE.name], metric));
  const { rows } = summarize(measurements);
  return [
    renderTables({ rows, ratios: {}, targets: [] }),
    `two ÷ one, end-to-end orders/s: ${ratio(({ ordersPerSecond }) => ordersPerSecond)} (enough 0.95, goal 1)`,
    `two ÷ one, CPU per order: ${ratio(serviceCpuMicroseconds)}`,
  ].join('\n\n');
}
