import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseEnvironment, startChild } from '@orders/test-services/child.ts';
import pg from 'pg';
import { OURS } from '../contestants.ts';
import { makeOrder } from '../load/make-order.ts';
import { startDriver } from '../load/start-driver.ts';
import { measure, WARM_UP_SECONDS } from '../measure/measure.ts';
import { countOrders, readStoredOrders } from '../measure/postgres.ts';
import { usageOf } from '../measure/processes.ts';
import { median, percentile } from '../measure/statistics.ts';
import type { Services } from '../services.ts';
import { startContestant } from '../start-contestant.ts';

/** One run of `orders send`, and a closed loop on the same kind of stack. Rates in written orders per second. */
export interface SendRound {
  closedLoop: number;
  /** Counted from the start of its process. */
  send: number;
  /** Counted from its first receipt. */
  sendAlone: number;
  /** CPU time in milliseconds per order. */
  cpuMs: number;
  memoryMiB: number;
  faults: string[];
}

const CLI = resolve(import.meta.dirname, '../../../../apps/cli/src/main.ts');
const CONNECTIONS = 128;
const POLL_INTERVAL_MS = 50;

interface Plan {
  orders: number;
  rounds: number;
  seconds: number;
}

/** Measures both in turn, each on a new database. */
export async function runSend(
  services: Services,
  plan: Plan,
  printProgress: (text: string) => void,
): Promise<SendRound[]> {
  const { orders, rounds, seconds } = plan;
  const file = join(services.directory, 'orders.ndjson');
  const lines = Readable.from(
    Array.from({ length: orders }, (_, number) => `${makeOrder(`sent-${number}`, number)}\n`),
  );
  await pipeline(lines, createWriteStream(file));
  const results: SendRound[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    printProgress(`Round ${round}: closed loop, ${CONNECTIONS} connections …`);
    const load = { kind: 'closed', connections: CONNECTIONS } as const;
    const loop = await measure(services, { contestant: OURS, load, seconds });
    printProgress(`    ${Math.round(loop.ordersPerSecond)} orders/s`);
    printProgress(`Round ${round}: orders send, ${orders} orders …`);
    const sent = await measureSend(services, file, plan);
    printProgress(`    ${Math.round(sent.send)} orders/s`);
    results.push({ ...sent, closedLoop: loop.ordersPerSecond, faults: [...loop.faults, ...sent.faults] });
  }
  return results;
}

async function measureSend(services: Services, file: string, { orders }: Plan): Promise<Omit<SendRound, 'closedLoop'>> {
  const databaseUrl = await services.fresh('send');
  const running = await startContestant(OURS, services, databaseUrl, { workers: 1 });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('set enable_seqscan = off');
  const { accountIds, apiKeys, url } = running;
  try {
    const warmUp = { accountIds, prefix: 'warm' };
    const driver = await startDriver();
    const load = { kind: 'closed', connections: CONNECTIONS } as const;
    const { acceptedAt } = await driver.run({
      urls: [url],
      apiKeys,
      load,
      seconds: WARM_UP_SECONDS,
      prefix: warmUp.prefix,
    });
    const warm = acceptedAt.filter((at) => !Number.isNaN(at)).length;
    while ((await countOrders(client, warmUp)) < warm) await sleep(POLL_INTERVAL_MS);
    await driver.child.stop();

    const startedAt = Date.now();
    const child = await startChild(process.execPath, [CLI, 'send', file, '--json'], {
      env: {
        ...baseEnvironment(),
        NODE_ENV: 'production',
        ORDERS_URL: url.replace(/\/ingest\/orders$/, ''),
        ORDERS_API_KEY: apiKeys[0],
      },
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    let usage = { cpuSeconds: 0, memoryMiB: 0 };
    const watching = setInterval(() => void usageOf(child.pid).then((now) => (usage = now ?? usage)), POLL_INTERVAL_MS);
    if (child.process.exitCode === null) await once(child.process, 'exit');
    clearInterval(watching);

    const stored = await readStoredOrders(client, { accountIds, prefix: 'sent' }, orders);
    const written = stored.writtenAt.filter((at) => !Number.isNaN(at)).length;
    const last = percentile(stored.writtenAt, 1);
    const { rows } = await client.query(
      `select extract(epoch from min(received_at))::float8 * 1000 as first from receipts where account_id = $1 and source_order_id >= 'sent-' and source_order_id < 'sent.'`,
      [accountIds[0]],
    );
    return {
      send: (written * 1000) / (last - startedAt),
      sendAlone: (written * 1000) / (last - rows[0].first),
      cpuMs: (usage.cpuSeconds * 1000) / orders,
      memoryMiB: usage.memoryMiB,
      faults: [
        ...(child.process.exitCode === 0 ? [] : [`orders send ended with ${child.process.exitCode}`]),
        ...(written === orders ? [] : [`${orders - written} orders were not written`]),
        ...(stored.extra === 0 ? [] : [`${stored.extra} orders were written twice`]),
      ],
    };
  } finally {
    await running.stop();
    await client.end();
    await services.drop(databaseUrl);
  }
}

/** Formats the results, one per line. */
export function renderSend(rounds: readonly SendRound[]): string {
  const of = (name: 'closedLoop' | 'send' | 'sendAlone' | 'cpuMs' | 'memoryMiB') =>
    median(rounds.map((round) => round[name]));
  const ratio = (name: 'send' | 'sendAlone') =>
    median(rounds.map((round) => round[name] / round.closedLoop)).toFixed(2);
  return [
    `medians of ${rounds.length} rounds, written orders/s: closed loop with ${CONNECTIONS} connections ${Math.round(of('closedLoop'))}, orders send ${Math.round(of('send'))}`,
    `orders send to the closed loop: ${ratio('send')} (enough 0.8); counted from its first receipt, without the start of its process: ${ratio('sendAlone')}`,
    `orders send itself: ${of('cpuMs').toFixed(3)} ms of CPU time an order, at most ${of('memoryMiB').toFixed(0)} MiB`,
  ].join('\n');
}
