import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { mainOf, startProgram } from '@orders/test-services/apps.ts';
import { type Bench, haveFaults, ROUNDS, SECONDS } from '../bench.ts';
import { printProgress } from '../command-line.ts';
import { OURS } from '../contestants.ts';
import { makeOrder } from '../load/make-order.ts';
import { measure, WARM_UP_SECONDS, warmUp } from '../measure/measure.ts';
import { readStoredOrders } from '../measure/postgres.ts';
import { usageOf } from '../measure/processes.ts';
import { median, percentile } from '../measure/statistics.ts';
import { renderFigures } from '../report/tables.ts';
import { type Running, withOurs } from '../start-contestant.ts';

/** One run of `orders send`, and a closed loop on the same kind of stack. Rates in written orders per second. */
interface SendRound {
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

const LOAD = { kind: 'closed', connections: 128 } as const;
const POLL_INTERVAL_MS = 50;

/** Measures both in turn, each on a new database. */
export const send: Bench = {
  name: 'send',
  description: 'Compares orders send with a closed loop on the same kind of stack, alternately.',
  options: [ROUNDS, SECONDS, ['--orders <number>', 'in the file', 100_000]],
  async run(services, { orders, rounds, seconds }) {
    const file = join(services.directory, 'orders.ndjson');
    const lines = Array.from({ length: orders }, (_, number) => `${makeOrder(`sent-${number}`, number)}\n`);
    await pipeline(Readable.from(lines), createWriteStream(file));
    const results: SendRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      printProgress(`Round ${round}: closed loop, ${LOAD.connections} connections …`);
      const loop = await measure(services, { contestant: OURS, load: LOAD, seconds });
      printProgress(`    ${Math.round(loop.ordersPerSecond)} orders/s`);
      printProgress(`Round ${round}: orders send, ${orders} orders …`);
      const sent = await withOurs(services, (running) => measureSend(running, file, orders));
      printProgress(`    ${Math.round(sent.send)} orders/s`);
      results.push({ ...sent, closedLoop: loop.ordersPerSecond, faults: [...loop.faults, ...sent.faults] });
    }
    for (const fault of results.flatMap(({ faults }) => faults)) printProgress(`FAILED: ${fault}`);
    return { text: render(results), results: { results }, hasFailed: haveFaults(results) };
  },
};

async function measureSend(running: Running, file: string, orders: number): Promise<Omit<SendRound, 'closedLoop'>> {
  const { accountIds, apiKeys, urls, client } = running;
  await client.query('set enable_seqscan = off');
  await warmUp(running, (prefix) => running.offer(LOAD, WARM_UP_SECONDS, prefix));

  const startedAt = Date.now();
  const env = {
    NODE_ENV: 'production',
    ORDERS_URL: urls[0]?.replace(/\/ingest\/orders$/, ''),
    ORDERS_API_KEY: apiKeys[0],
  };
  const child = await startProgram(mainOf('cli'), env, { args: ['send', file, '--json'], output: 'ignore' });
  let usage = await usageOf(child.pid);
  const watching = setInterval(async () => {
    const now = await usageOf(child.pid);
    if (now.memoryMiB > 0) usage = now;
  }, POLL_INTERVAL_MS);
  await child.exited;
  clearInterval(watching);

  const stored = await readStoredOrders(client, { accountIds, prefix: 'sent' }, orders);
  const written = stored.writtenAt.filter((at) => !Number.isNaN(at)).length;
  const last = percentile(stored.writtenAt, 1);
  const { rows } = await client.query(
    `select extract(epoch from min(received_at))::float8 * 1000 as first from receipts
     where account_id = $1 and source_order_id >= 'sent-' and source_order_id < 'sent.'`,
    [accountIds[0]],
  );
  const { exitCode } = child.process;
  return {
    send: (written * 1000) / (last - startedAt),
    sendAlone: (written * 1000) / (last - rows[0].first),
    cpuMs: (usage.cpuSeconds * 1000) / orders,
    memoryMiB: usage.memoryMiB,
    faults: [
      ...(exitCode === 0 ? [] : [`orders send ended with ${exitCode}`]),
      ...(written === orders ? [] : [`${orders - written} orders were not written`]),
      ...(stored.extra === 0 ? [] : [`${stored.extra} orders were written twice`]),
    ],
  };
}

function render(rounds: readonly SendRound[]): string {
  const of = (figure: (round: SendRound) => number) => median(rounds.map(figure));
  return renderFigures([
    { what: `closed loop, ${LOAD.connections} connections: written orders/s`, value: of((one) => one.closedLoop) },
    { what: 'orders send: written orders/s', value: of((one) => one.send) },
    { what: 'orders send ÷ closed loop', value: of((one) => one.send / one.closedLoop), enough: 0.8 },
    { what: 'the same, from its first receipt', value: of((one) => one.sendAlone / one.closedLoop) },
    { what: 'CPU time of orders send for an order, ms', value: of((one) => one.cpuMs) },
    { what: 'its memory, MiB', value: of((one) => one.memoryMiB) },
  ]);
}
