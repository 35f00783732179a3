import type { Load } from '@orders/test-services/load/run-load.ts';
import type { Options } from './bench.ts';
import { printProgress } from './command-line.ts';
import { type Contestant, OBVIOUS } from './contestants.ts';
import type { OrderSize } from './large-orders.ts';
import { type Measurement, measure } from './measure.ts';
import type { Services } from './services.ts';
import { median } from './statistics.ts';

/** The load whose end-to-end rates are quoted. */
export const QUOTED_LOAD = '128';
/** The open-loop rate for all contestants, as a share of the end-to-end rate of `obvious`. */
const SHARE_OF_OBVIOUS = 0.4;
/** The name of that load, independent of its rate. */
export const COMFORTABLE_LOAD = 'open-40%';

interface Plan extends Pick<Options, 'rounds' | 'seconds' | 'profile'> {
  contestants: readonly Contestant[];
  /** Like on the command line: a number of connections, `open-<orders a second>` or `open-40%`. */
  loads: readonly string[];
  orderSize?: OrderSize | undefined;
}

/**
 * Measures every contestant under every load, `rounds` times. The contestants alternate within a round, so that a slower
 * machine affects all of them; every second round in reverse, in case it becomes slower or faster within rounds.
 */
export async function runRounds(services: Services, plan: Plan): Promise<Measurement[]> {
  const { contestants, loads, orderSize, rounds, seconds, profile } = plan;
  const measurements: Measurement[] = [];
  const total = contestants.length * loads.length * rounds;
  const startedAt = Date.now();
  for (const name of loads) {
    const load = loadOf(name, measurements);
    for (let round = 1; round <= rounds; round += 1) {
      for (const contestant of round % 2 ? contestants : contestants.toReversed()) {
        const done = measurements.length;
        const minutesLeft = done === 0 ? null : (((Date.now() - startedAt) / done) * (total - done)) / 60_000;
        const left = minutesLeft === null ? '' : `, ${Math.ceil(minutesLeft)} min left`;
        printProgress(
          `[${done + 1}/${total}${left}] load ${name}${orderSize ? `, orders of ${orderSize}` : ''}, round ${round}, ${contestant.name} …`,
        );
        const measurement = await measure(services, { contestant, load, orderSize, seconds, profileTo: profile });
        measurements.push({ ...measurement, load: name });
        printProgress(`    ${describe(measurement)}`);
      }
    }
  }
  return measurements;
}

/** @throws {Error} if a load depends on a missing measurement. */
function loadOf(name: string, measured: readonly Measurement[]): Load {
  if (name !== COMFORTABLE_LOAD) return parseLoad(name);
  const rates = measured.filter(({ contestant, load }) => contestant === OBVIOUS.name && load === QUOTED_LOAD);
  const perSecond = Math.round(SHARE_OF_OBVIOUS * median(rates.map(({ ordersPerSecond }) => ordersPerSecond)));
  if (!(perSecond > 0))
    throw new Error(`The load ${name} needs ${OBVIOUS.name} under load ${QUOTED_LOAD} measured before it.`);
  return { kind: 'open', perSecond };
}

/** @throws {Error} one line with the valid forms. */
export function parseLoad(name: string): Load {
  const [, open, digits] = /^(open-)?([1-9]\d{0,5})$/.exec(name) ?? [];
  if (!digits)
    throw new Error(
      `"${name}" is not a load: give a number of connections, open-<orders a second> or ${COMFORTABLE_LOAD}.`,
    );
  return open ? { kind: 'open', perSecond: Number(digits) } : { kind: 'closed', connections: Number(digits) };
}

/** Formats a measurement in one line. */
export function describe(measurement: Measurement): string {
  const { ordersPerSecond, reply, written, faults, load } = measurement;
  const rate = `${Math.round(ordersPerSecond)} orders/s`;
  const times = `202 p50 ${reply.p50.toFixed(1)} p99 ${reply.p99.toFixed(1)} ms`;
  const lag = Number.isNaN(written.p99) ? '' : `, written p99 ${written.p99.toFixed(1)} ms later`;
  return `${load}: ${rate}, ${times}${lag}${faults.length > 0 ? `; FAILED: ${faults.join('; ')}` : ''}`;
}
