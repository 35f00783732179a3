import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { OURS } from '../contestants.ts';
import { openConnection } from '../load/connection.ts';
import { makeOrder } from '../load/make-order.ts';
import { startDriver } from '../load/start-driver.ts';
import { WARM_UP_SECONDS } from '../measure/measure.ts';
import { countOrders } from '../measure/postgres.ts';
import { usageOf, usageOfTree } from '../measure/processes.ts';
import type { Services } from '../services.ts';
import { type Running, startContestant } from '../start-contestant.ts';

/** The rates of one way to send, counted from the first request. */
export interface Rate {
  way: string;
  orders: number;
  acceptedPerSecond: number;
  /** Counted until the last order was written. */
  writtenPerSecond: number;
  /** Milliseconds of CPU time per order, in intake, the worker and Postgres. */
  cpuMs: { intake: number; worker: number; postgres: number };
}

const SINGLE_CONNECTIONS = 128;
const BATCH_CONNECTIONS = 4;
const BATCH = 1000;

/** Sends orders one by one over 128 connections, then in batches of 1,000 over four, with and without idempotency keys. */
export async function runBatches(
  services: Services,
  { rounds, seconds }: { rounds: number; seconds: number },
  printProgress: (text: string) => void,
): Promise<Rate[]> {
  const databaseUrl = await services.fresh('batches');
  const running = await startContestant(OURS, services, databaseUrl, { workers: 1 });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const ways: [string, (seconds: number, prefix: string) => Promise<number>][] = [
    [`one by one, ${SINGLE_CONNECTIONS} connections`, (time, prefix) => sendSingles(running, time, prefix)],
    ['in batches', (time, prefix) => sendBatches(running, time, prefix, false)],
    ['in batches with a key', (time, prefix) => sendBatches(running, time, prefix, true)],
  ];
  const rates: Rate[] = [];
  let run = 0;

  async function measure(way: string, send: (seconds: number, prefix: string) => Promise<number>, time: number) {
    run += 1;
    const before = await readCpuSeconds(services, running);
    const startedAt = performance.now();
    const orders = await send(time, `run${run}`);
    const acceptedAt = performance.now();
    const sent = { accountIds: running.accountIds, prefix: `run${run}` };
    while ((await countOrders(client, sent)) < orders) await sleep(20);
    const writtenAt = performance.now();
    const after = await readCpuSeconds(services, running);
    const perOrder = (part: keyof typeof after) => ((after[part] - before[part]) * 1000) / orders;
    return {
      way,
      orders,
      acceptedPerSecond: (orders * 1000) / (acceptedAt - startedAt),
      writtenPerSecond: (orders * 1000) / (writtenAt - startedAt),
      cpuMs: { intake: perOrder('intake'), worker: perOrder('worker'), postgres: perOrder('postgres') },
    };
  }

  try {
    printProgress('Warming up …');
    for (const [way, send] of ways) await measure(way, send, WARM_UP_SECONDS);
    for (let round = 1; round <= rounds; round += 1) {
      for (const [way, send] of ways) {
        printProgress(`Round ${round}: ${way} …`);
        rates.push(await measure(way, send, seconds));
      }
    }
    return rates;
  } finally {
    await running.stop();
    await client.end();
    await services.drop(databaseUrl);
  }
}

async function sendSingles({ url, apiKeys }: Running, seconds: number, prefix: string): Promise<number> {
  const driver = await startDriver();
  try {
    const load = { kind: 'closed', connections: SINGLE_CONNECTIONS } as const;
    const { acceptedAt } = await driver.run({ urls: [url], apiKeys, load, seconds, prefix });
    return acceptedAt.filter((at) => !Number.isNaN(at)).length;
  } finally {
    await driver.child.stop();
  }
}

/** Sends batches of one account. */
async function sendBatches({ url, apiKeys }: Running, seconds: number, prefix: string, keyed: boolean) {
  const endsAt = performance.now() + seconds * 1000;
  let sent = 0;
  let accepted = 0;
  await Promise.all(
    Array.from({ length: BATCH_CONNECTIONS }, async () => {
      const connection = openConnection(`${url}/batch`, apiKeys[0] as string);
      while (performance.now() < endsAt) {
        const first = sent;
        sent += BATCH;
        const orders = Array.from({ length: BATCH }, (_, index) => makeOrder(`${prefix}-${first + index}`, index));
        const headers = {
          'content-type': 'application/x-ndjson',
          ...(keyed && { 'idempotency-key': `${prefix}-${first}` }),
        };
        const { promise, resolve } = Promise.withResolvers<number>();
        connection.send(orders.join('\n'), ({ status }) => resolve(status), headers);
        if ((await promise) === 202) accepted += BATCH;
      }
      connection.close();
    }),
  );
  return accepted;
}

async function readCpuSeconds({ postgresPid }: Services, { intake, workers }: Running) {
  const [intakeUsage, workerUsage, postgres] = await Promise.all([
    usageOf(intake.pid),
    usageOf(workers[0]?.pid ?? 0),
    usageOfTree(postgresPid),
  ]);
  return {
    intake: intakeUsage?.cpuSeconds ?? 0,
    worker: workerUsage?.cpuSeconds ?? 0,
    postgres: postgres?.cpuSeconds ?? 0,
  };
}

/** Formats the results, one measurement per line. */
export function renderBatches(rates: readonly Rate[]): string {
  return rates
    .map(({ way, orders, acceptedPerSecond, writtenPerSecond, cpuMs }) => {
      const { intake, worker, postgres } = cpuMs;
      const times = `intake ${intake.toFixed(3)}, worker ${worker.toFixed(3)}, Postgres ${postgres.toFixed(3)} ms an order`;
      return `${way}: ${orders} orders, accepted ${acceptedPerSecond.toFixed(0)}/s, written ${writtenPerSecond.toFixed(0)}/s; ${times}`;
    })
    .join('\n');
}
