import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { OURS } from '../contestants.ts';
import type { Load, LoadResult } from '../load/run-load.ts';
import { startDriver } from '../load/start-driver.ts';
import { WARM_UP_SECONDS } from '../measure/measure.ts';
import { countOrders, readStoredOrders } from '../measure/postgres.ts';
import { usageOf } from '../measure/processes.ts';
import { percentile } from '../measure/statistics.ts';
import type { Services } from '../services.ts';
import { type Running, startContestant } from '../start-contestant.ts';

/** The results of an open loop at twice the capacity of the service. Latencies in milliseconds. */
export interface Overload {
  /** The rate of a closed loop of the same driver just before. */
  peakPerSecond: number;
  offeredPerSecond: number;
  acceptedPerSecond: number;
  /** Other replies than 202 by status; 0 means a failed connection. */
  refused: Record<string, number>;
  /** Orders that the driver itself could not send in time. */
  unsent: number;
  /** Latencies of accepted orders from their due time, including the wait for a connection of the driver. */
  acceptedP50: number;
  acceptedP99: number;
  /** The same from the time of sending. */
  replyP99: number;
  /** The peak memory of intake after the peak measurement and after the overload. */
  memoryMiB: { before: number; after: number };
  /** The share of one CPU that the driver used during the overload. */
  driverShare: number;
  /** The p50 of one request at a time, before and right after the overload. */
  loneP50: { before: number; after: number };
  /** The numbers of missing accepted orders and of orders written twice. */
  lost: number;
  doubled: number;
}

const PEAK_CONNECTIONS = 256;
/** More than intake accepts at once, so that it rejects some. */
const OVERLOAD_CONNECTIONS = 2048;
const TIMEOUT_MS = 60_000;

/** Measures the peak, sends twice the rate for `seconds`, and verifies that every accepted order was written. */
export async function runOverload(
  services: Services,
  { seconds }: { seconds: number },
  printProgress: (text: string) => void,
): Promise<Overload> {
  const databaseUrl = await services.fresh('overload');
  const running = await startContestant(OURS, services, databaseUrl, { workers: 1 });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const offer = async (
    load: Load,
    forSeconds: number,
    prefix: string,
  ): Promise<LoadResult & { cpuSeconds: number }> => {
    const driver = await startDriver();
    try {
      const { url, apiKeys } = running;
      // Opens all connections before the load begins.
      const gentle: Load = { kind: 'open', perSecond: 100, connections: load.connections ?? 1 };
      await driver.run({ urls: [url], apiKeys, load: gentle, seconds: 2, prefix: `${prefix}.first` });
      const before = (await usageOf(driver.child.pid))?.cpuSeconds ?? Number.NaN;
      const result = await driver.run({ urls: [url], apiKeys, load, seconds: forSeconds, prefix });
      return { ...result, cpuSeconds: ((await usageOf(driver.child.pid))?.cpuSeconds ?? Number.NaN) - before };
    } finally {
      await driver.child.stop();
    }
  };
  const lone = async (prefix: string) =>
    percentile((await offer({ kind: 'closed', connections: 1 }, 3, prefix)).latencies, 0.5);

  try {
    printProgress('Warming up, and one request at a time …');
    await offer({ kind: 'closed', connections: PEAK_CONNECTIONS }, WARM_UP_SECONDS, 'warm');
    const before = await lone('before');
    printProgress(`Peak rate with ${PEAK_CONNECTIONS} connections …`);
    const peak = await offer({ kind: 'closed', connections: PEAK_CONNECTIONS }, seconds, 'peak');
    const peakPerSecond = acceptedOf(peak).length / seconds;
    const memoryBefore = await memoryOf(running);
    const offeredPerSecond = Math.round(2 * peakPerSecond);
    printProgress(`Twice the peak, ${offeredPerSecond} orders/s, for ${seconds} s …`);
    const over = await offer(
      { kind: 'open', perSecond: offeredPerSecond, connections: OVERLOAD_CONNECTIONS },
      seconds,
      'over',
    );
    const memoryAfter = await memoryOf(running);
    const after = await lone('after');
    const accepted = acceptedOf(over);
    printProgress('Waiting until all accepted orders are written …');
    const sent = { accountIds: running.accountIds, prefix: 'over' };
    for (const from = Date.now(); Date.now() - from < TIMEOUT_MS; await sleep(200)) {
      if ((await countOrders(client, sent)) >= accepted.length) break;
    }
    const stored = await readStoredOrders(client, sent, over.acceptedAt.length);
    return {
      peakPerSecond,
      offeredPerSecond,
      acceptedPerSecond: accepted.length / ((over.endedAt - over.startedAt) / 1000),
      refused: over.refused,
      unsent: Math.floor(seconds * offeredPerSecond) - over.acceptedAt.length,
      acceptedP50: percentile(accepted, 0.5),
      acceptedP99: percentile(accepted, 0.99),
      replyP99: percentile(
        over.replyTimes.filter((_, number) => !Number.isNaN(over.acceptedAt[number])),
        0.99,
      ),
      memoryMiB: { before: memoryBefore, after: memoryAfter },
      driverShare: over.cpuSeconds / seconds,
      loneP50: { before, after },
      lost: over.acceptedAt.filter((at, number) => !Number.isNaN(at) && Number.isNaN(stored.writtenAt[number])).length,
      doubled: stored.extra,
    };
  } finally {
    await running.stop();
    await client.end();
    await services.drop(databaseUrl);
  }
}

/** Latencies of the accepted orders. */
function acceptedOf({ latencies, acceptedAt }: LoadResult): Float64Array {
  return latencies.filter((_, number) => !Number.isNaN(acceptedAt[number]));
}

async function memoryOf(running: Running): Promise<number> {
  return (await usageOf(running.intake.pid))?.memoryMiB ?? Number.NaN;
}

/** Formats the results, one per line. */
export function renderOverload(overload: Overload): string {
  const { peakPerSecond, acceptedPerSecond, memoryMiB, loneP50 } = overload;
  const refused = Object.entries(overload.refused).map(([status, count]) => `${count} × ${status}`);
  return [
    `offered ${overload.offeredPerSecond} orders/s, twice the peak of ${Math.round(peakPerSecond)}; the driver could not send ${overload.unsent}`,
    `accepted ${Math.round(acceptedPerSecond)}/s: ${((100 * acceptedPerSecond) / peakPerSecond).toFixed(0)} % of the peak (enough 80 %)`,
    `refused: ${refused.join(', ') || 'none'}`,
    `accepted, from when it was due: p50 ${overload.acceptedP50.toFixed(0)} ms, p99 ${overload.acceptedP99.toFixed(0)} ms (enough 2,000 ms, goal 1,000 ms)`,
    `accepted, from when it was sent: p99 ${overload.replyP99.toFixed(0)} ms`,
    `memory of intake: at most ${memoryMiB.before.toFixed(0)} MiB before, ${memoryMiB.after.toFixed(0)} MiB after`,
    `the driver's own share of one CPU: ${(100 * overload.driverShare).toFixed(0)} %`,
    `one request at a time: p50 ${loneP50.before.toFixed(2)} ms before, ${loneP50.after.toFixed(2)} ms right after`,
    `accepted and lost: ${overload.lost}; written twice: ${overload.doubled}`,
  ].join('\n');
}
