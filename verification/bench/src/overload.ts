import { countAccepted, type Load, type LoadResult } from '@orders/test-services/load/run-load.ts';
import { type Bench, outcomeOf } from './bench.ts';
import { printProgress } from './command-line.ts';
import { WARM_UP_SECONDS } from './measure.ts';
import { countFaults, readStoredOrders, untilOrders } from './postgres.ts';
import { usageOf, usageOfAll } from './processes.ts';
import type { Services } from './services.ts';
import { type Running, withOurs } from './start-contestant.ts';
import { withDriver } from './start-driver.ts';
import { percentile, quantiles } from './statistics.ts';

const PEAK_CONNECTIONS = 256;
/** More than intake accepts at once, so that it rejects some. */
const OVERLOAD_CONNECTIONS = 2048;

/** Measures the peak, sends twice the rate, and verifies that every accepted order was written. */
export const overload: Bench = {
  name: 'overload',
  description: 'Sends this service twice the load that it can accept.',
  run: (services: Services, { seconds, profile }) =>
    withOurs(services, (running) => measure(running, seconds), { profileTo: profile }),
};

async function measure(running: Running, seconds: number) {
  const offer = (load: Load, forSeconds: number, prefix: string) =>
    offerFromOpenConnections(running, load, forSeconds, prefix);
  const lone = async (prefix: string) =>
    percentile((await offer({ kind: 'closed', connections: 1 }, 3, prefix)).latencies, 0.5);
  const peakMemory = async () => (await usageOfAll(running.intakes)).memoryMiB;

  printProgress('Warming up, and one request at a time …');
  await offer({ kind: 'closed', connections: PEAK_CONNECTIONS }, WARM_UP_SECONDS, 'warm');
  const loneBefore = await lone('before');
  printProgress(`Peak rate with ${PEAK_CONNECTIONS} connections …`);
  const peak = await offer({ kind: 'closed', connections: PEAK_CONNECTIONS }, seconds, 'peak');
  const peakPerSecond = countAccepted(peak) / seconds;
  const memoryBefore = await peakMemory();
  const perSecond = Math.round(2 * peakPerSecond);
  printProgress(`Twice the peak, ${perSecond} orders/s, for ${seconds} s …`);
  const over = await offer({ kind: 'open', perSecond, connections: OVERLOAD_CONNECTIONS }, seconds, 'over');
  const memoryAfter = await peakMemory();
  const loneAfter = await lone('after');
  const accepted = countAccepted(over);
  printProgress('Waiting until all accepted orders are written …');
  const sent = { accountIds: running.accountIds, prefix: 'over' };
  await untilOrders(running.client, sent, accepted);
  const stored = await readStoredOrders(running.client, sent, over.acceptedAt.length);
  const { lost, doubled } = countFaults(over, stored);
  const ofAccepted = (values: Float64Array) => quantiles(values.filter((_, at) => !Number.isNaN(over.acceptedAt[at])));
  const acceptedPerSecond = accepted / ((over.endedAt - over.startedAt) / 1000);
  const fromDue = ofAccepted(over.latencies);
  return outcomeOf(
    [
      { what: 'peak, orders/s', value: peakPerSecond },
      { what: 'offered, twice the peak, orders/s', value: perSecond },
      { what: 'of these the driver could not send', value: Math.floor(seconds * perSecond) - over.acceptedAt.length },
      { what: 'accepted, orders/s', value: acceptedPerSecond },
      { what: 'accepted, % of the peak', value: (100 * acceptedPerSecond) / peakPerSecond, enough: 80 },
      ...Object.entries(over.refused).map(([status, value]) => ({ what: `refused with ${status}`, value })),
      { what: 'accepted, from when it was due: p50, ms', value: fromDue.p50 },
      { what: 'accepted, from when it was due: p99, ms', value: fromDue.p99, enough: 2000, goal: 1000 },
      { what: 'accepted, from when it was sent: p99, ms', value: ofAccepted(over.replyTimes).p99 },
      { what: 'peak memory of intake before, MiB', value: memoryBefore },
      { what: 'peak memory of intake after, MiB', value: memoryAfter },
      { what: 'share of one CPU that the driver used, %', value: (100 * over.cpuSeconds) / seconds },
      { what: 'one request at a time before: p50, ms', value: loneBefore },
      { what: 'one request at a time right after: p50, ms', value: loneAfter },
      { what: 'accepted and lost', value: lost, enough: 0 },
      { what: 'written twice', value: doubled, enough: 0 },
    ],
    lost + doubled > 0,
  );
}

/** Opens all connections of a driver before its load begins. */
function offerFromOpenConnections(
  running: Running,
  load: Load,
  seconds: number,
  prefix: string,
): Promise<LoadResult & { cpuSeconds: number }> {
  return withDriver(async (driver) => {
    const gentle: Load = { kind: 'open', perSecond: 100, connections: load.connections ?? 1 };
    await running.offer(gentle, 2, `${prefix}.first`, { driver });
    const before = await usageOf(driver.child.pid);
    const result = await running.offer(load, seconds, prefix, { driver });
    return { ...result, cpuSeconds: (await usageOf(driver.child.pid)).cpuSeconds - before.cpuSeconds };
  });
}
