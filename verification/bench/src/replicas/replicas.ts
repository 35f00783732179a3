import { type Bench, haveFaults, ROUNDS, SECONDS } from '../bench.ts';
import { OURS } from '../contestants.ts';
import type { Measurement } from '../measure/measure.ts';
import { ratioByRound, renderRatio, serviceCpuMicroseconds } from '../report/ratios.ts';
import { renderTables, summarize } from '../report/summary.ts';
import { QUOTED_LOAD, runRounds } from '../rounds.ts';

const ONE = { ...OURS, name: 'one of each' };
const TWO = { ...OURS, name: 'two of each', replicas: 2 };

/** Measures one intake and one worker, and two of each, alternately under the same load. */
export const replicas: Bench = {
  name: 'replicas',
  description: 'Compares two intakes and two workers with one of each under the same load, alternately.',
  options: [ROUNDS, SECONDS],
  async run(services, options) {
    const measurements = await runRounds(services, { ...options, contestants: [ONE, TWO], loads: [QUOTED_LOAD] });
    const ratio = (metric: (measurement: Measurement) => number) =>
      renderRatio(ratioByRound(measurements, [TWO.name, ONE.name], metric));
    const text = [
      renderTables({ rows: summarize(measurements).rows, ratios: {}, targets: [] }),
      `two ÷ one, end-to-end orders/s: ${ratio(({ ordersPerSecond }) => ordersPerSecond)} (enough 0.95, goal 1)`,
      `two ÷ one, CPU per order: ${ratio(serviceCpuMicroseconds)}`,
    ].join('\n\n');
    return { text, results: { measurements }, hasFailed: haveFaults(measurements) };
  },
};
