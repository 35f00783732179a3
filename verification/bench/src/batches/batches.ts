import { openConnection } from '@orders/test-services/load/connection.ts';
import { countAccepted, runLoad } from '@orders/test-services/load/run-load.ts';
import { type Bench, ROUNDS, SECONDS } from '../bench.ts';
import { printProgress } from '../command-line.ts';
import { makeOrder } from '../load/make-order.ts';
import { WARM_UP_SECONDS } from '../measure/measure.ts';
import { untilOrders } from '../measure/postgres.ts';
import { usageOfAll, usageOfTree } from '../measure/processes.ts';
import { digits, table } from '../report/tables.ts';
import type { Services } from '../services.ts';
import { type Running, withOurs } from '../start-contestant.ts';

/** The rates of one way to send, counted from the first request. */
interface Rate {
  way: string;
  orders: number;
  acceptedPerSecond: number;
  /** Counted until the last order was written. */
  writtenPerSecond: number;
  /** Milliseconds of CPU time per order. */
  cpuMs: Record<Part, number>;
}

const PARTS = ['intake', 'worker', 'postgres'] as const;
type Part = (typeof PARTS)[number];

/** Sends for a time. @returns the number of accepted orders. */
type Send = (running: Running, seconds: number, prefix: string) => Promise<number>;

const SINGLE_CONNECTIONS = 128;
const BATCH_CONNECTIONS = 4;
const BATCH = 1000;

const sendSingles: Send = async ({ offer }, seconds, prefix) =>
  countAccepted(await offer({ kind: 'closed', connections: SINGLE_CONNECTIONS }, seconds, prefix));

/** Sends batches of one account. */
const sendBatches =
  (isKeyed: boolean): Send =>
  async ({ urls, apiKeys }, seconds, prefix) => {
    const headers = { authorization: `Bearer ${apiKeys[0]}`, 'content-type': 'application/x-ndjson' };
    const connections = Array.from({ length: BATCH_CONNECTIONS }, () => openConnection(`${urls[0]}/batch`, headers));
    const load = { kind: 'closed', connections: BATCH_CONNECTIONS } as const;
    const result = await runLoad(connections, load, seconds, (batch) => {
      const orders = Array.from({ length: BATCH }, (_, at) => makeOrder(`${prefix}-${batch * BATCH + at}`, at));
      return { body: orders.join('\n'), ...(isKeyed && { headers: { 'idempotency-key': `${prefix}-${batch}` } }) };
    });
    for (const connection of connections) connection.close();
    return countAccepted(result) * BATCH;
  };

const WAYS: readonly [string, Send][] = [
  [`one by one, ${SINGLE_CONNECTIONS} connections`, sendSingles],
  ['in batches', sendBatches(false)],
  ['in batches with a key', sendBatches(true)],
];

/** Sends orders one by one over 128 connections, then in batches of 1,000 over four, with and without idempotency keys. */
export const batches: Bench = {
  name: 'batches',
  description: 'Compares orders sent one by one with batches of one sender.',
  options: [ROUNDS, SECONDS],
  run: (services, { rounds, seconds }) =>
    withOurs(services, async (running) => {
      let run = 0;
      const measureNext = (way: string, send: Send, time: number) =>
        measureWay(services, running, { way, send, seconds: time, prefix: `run${++run}` });
      printProgress('Warming up …');
      for (const [way, send] of WAYS) await measureNext(way, send, WARM_UP_SECONDS);
      const rates: Rate[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        for (const [way, send] of WAYS) {
          printProgress(`Round ${round}: ${way} …`);
          rates.push(await measureNext(way, send, seconds));
        }
      }
      return { text: render(rates), results: { rates } };
    }),
};

async function measureWay(
  services: Services,
  running: Running,
  { way, send, seconds, prefix }: { way: string; send: Send; seconds: number; prefix: string },
): Promise<Rate> {
  const before = await readCpuSeconds(services, running);
  const startedAt = performance.now();
  const orders = await send(running, seconds, prefix);
  const acceptedAt = performance.now();
  const isDone = await untilOrders(running.client, { accountIds: running.accountIds, prefix }, orders);
  if (!isDone) throw new Error(`not all orders sent ${way} were written`);
  const writtenAt = performance.now();
  const after = await readCpuSeconds(services, running);
  const cpuMs = PARTS.map((part) => [part, ((after[part] - before[part]) * 1000) / orders]);
  return {
    way,
    orders,
    acceptedPerSecond: (orders * 1000) / (acceptedAt - startedAt),
    writtenPerSecond: (orders * 1000) / (writtenAt - startedAt),
    cpuMs: Object.fromEntries(cpuMs),
  };
}

async function readCpuSeconds(services: Services, { intakes, workers }: Running): Promise<Record<Part, number>> {
  const usages = [await usageOfAll(intakes), await usageOfAll(workers), await usageOfTree(services.postgresPid)];
  const [intake = 0, worker = 0, postgres = 0] = usages.map(({ cpuSeconds }) => cpuSeconds);
  return { intake, worker, postgres };
}

function render(rates: readonly Rate[]): string {
  return table(
    ['', 'orders', 'accepted/s', 'written/s', ...PARTS.map((part) => `CPU ${part}, ms an order`)],
    rates.map(({ way, orders, acceptedPerSecond, writtenPerSecond, cpuMs }) => [
      way,
      ...[orders, acceptedPerSecond, writtenPerSecond, ...PARTS.map((part) => cpuMs[part])].map(digits),
    ]),
  );
}
