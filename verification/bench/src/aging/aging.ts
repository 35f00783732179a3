import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '@orders/test-services/load/connection.ts';
import { countAccepted, runLoad } from '@orders/test-services/load/run-load.ts';
import { withKnex } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import type { Knex } from 'knex';
import { type Bench, type Options, SECONDS } from '../bench.ts';
import { printProgress } from '../command-line.ts';
import { makeOrder } from '../load/make-order.ts';
import { percentile } from '../measure/statistics.ts';
import { type Running, withOurs } from '../start-contestant.ts';
import { addKeys, age, countExpired, countOldPartitions, hotShare, pagesRead } from './age.ts';
import { describeYear, passYear } from './year.ts';

/** The maintenance of one cycle under load. Times are seconds from the start of the worker. */
interface Cycle {
  keysRemovedAfter: number;
  partitionsDroppedAfter: number;
  /** Pages that the search for expired keys reads when there are none. */
  pages: { read: number; total: number };
  load: KeyedLoad;
  /** Seconds from SIGTERM (while keys are removed) to the exit of the worker, and its exit code. */
  drain: { seconds: number; exitCode: number | null };
}

const CONNECTIONS = 32;
const TIMEOUT_SECONDS = 120;

/** Simulates TTLs of idempotency keys and weeks of receipts with rows of old times, while orders with keys arrive. */
export const aging: Bench = {
  name: 'aging',
  description:
    'Lets a year of orders pass, archives and erases, and then TTLs of idempotency keys and weeks of receipts under load, and measures maintenance.',
  options: [
    SECONDS,
    ['--cycles <number>', 'number of cycles of one TTL and two weeks', 3],
    ['--keys <number>', 'idempotency keys added in each cycle, half of them expired', 100_000],
    ['--receipts <number>', 'receipts in each dropped week', 20_000],
    ['--months <number>', 'months of orders', 12],
    ['--month-orders <number>', 'orders of each month', 80_000],
    ['--waiting <number>', 'orders of one account that need review', 100_000],
  ],
  run: (services, options) =>
    withOurs(
      services,
      (running) =>
        withKnex({ url: running.databaseUrl, applicationName: 'orders bench' }, async (knex) => {
          printProgress(`${options.months} months pass …`);
          const year = await passYear(running, knex, options);
          printProgress(`    ${describeYear(year)}`);
          const cycles: Cycle[] = [];
          while (cycles.length < options.cycles) {
            printProgress(`Cycle ${cycles.length + 1} of ${options.cycles}: one TTL and two weeks pass …`);
            cycles.push(await runCycle(running, knex, cycles.length, options));
            printProgress(`    ${describeCycle(cycles.at(-1) as Cycle)}`);
          }
          const share = await hotShare(knex);
          const lines = [
            describeYear(year),
            ...cycles.map((cycle, index) => `cycle ${index + 1}: ${describeCycle(cycle)}`),
          ];
          lines.push(`${(share * 100).toFixed(1)} % of the updates of receipts stayed on their page (HOT)`);
          const hasFailed = cycles.some(
            ({ load, drain }) => Object.keys(load.refused).length > 0 || drain.exitCode !== 0,
          );
          return { text: lines.join('\n'), results: { year, cycles, hotShare: share }, hasFailed };
        }),
      { workers: 0 },
    ),
};

async function runCycle(
  running: Running,
  knex: Knex,
  cycle: number,
  { keys, receipts, seconds }: Options,
): Promise<Cycle> {
  await age(knex, { cycle, keys, receipts });
  const load = startKeyedLoad(running, `aging${cycle}`);
  const startedAt = performance.now();
  const first = await running.startWorker();
  const secondsUntilNone = async (count: (knex: Knex) => Promise<number>) => {
    const isDone = async () => Number(await count(knex)) === 0;
    await until('maintenance is done', isDone, { seconds: TIMEOUT_SECONDS, everyMs: 100 });
    return (performance.now() - startedAt) / 1000;
  };
  const [keysRemovedAfter, partitionsDroppedAfter] = await Promise.all([
    secondsUntilNone(countExpired),
    secondsUntilNone(countOldPartitions),
  ]);
  await sleep(Math.max(0, seconds * 1000 - (performance.now() - startedAt)));
  const result = await load.stop();
  const pages = await pagesRead(knex);
  await first.stop();
  return { keysRemovedAfter, partitionsDroppedAfter, pages, load: result, drain: await drain(running, knex, keys) };
}

async function drain({ startWorker }: Running, knex: Knex, keys: number): Promise<Cycle['drain']> {
  await addKeys(knex, keys, 1);
  const before = await countExpired(knex);
  const worker = await startWorker();
  while ((await countExpired(knex)) === before) await sleep(5);
  const endedAt = performance.now();
  await worker.stop('SIGTERM', TIMEOUT_SECONDS * 1000);
  return { seconds: (performance.now() - endedAt) / 1000, exitCode: worker.process.exitCode };
}

function describeCycle({ keysRemovedAfter, partitionsDroppedAfter, pages, load, drain }: Cycle): string {
  const refused = Object.entries(load.refused).map(([status, count]) => `${count} × ${status}`);
  return [
    `keys removed after ${keysRemovedAfter.toFixed(1)} s, partitions dropped after ${partitionsDroppedAfter.toFixed(1)} s`,
    `${pages.read} of ${pages.total} pages read to find no old key`,
    `${load.accepted.toLocaleString('en')} orders accepted, refused: ${refused.join(', ') || 'none'}, slowest reply ${load.slowestMs.toFixed(0)} ms`,
    `drained in ${drain.seconds.toFixed(1)} s with exit code ${drain.exitCode}`,
  ].join('; ');
}

/** The results of a closed loop of orders with idempotency keys. */
interface KeyedLoad {
  accepted: number;
  /** Replies other than 202, by status; 0 stands for a failed connection. */
  refused: Record<string, number>;
  slowestMs: number;
}

/** Sends orders, each with its own key, until stopped. */
function startKeyedLoad({ urls: [url = ''], apiKeys }: Running, prefix: string): { stop(): Promise<KeyedLoad> } {
  const stopping = new AbortController();
  const connections = Array.from({ length: CONNECTIONS }, (_, index) =>
    openConnection(url, {
      authorization: `Bearer ${apiKeys[index % apiKeys.length]}`,
      'content-type': 'application/json',
    }),
  );
  const sending = runLoad(connections, { kind: 'closed', connections: CONNECTIONS }, stopping.signal, (number) => {
    const id = `${prefix}-${number}`;
    return { headers: { 'idempotency-key': id }, body: makeOrder(id, number) };
  });
  return {
    async stop() {
      stopping.abort();
      const result = await sending;
      for (const connection of connections) connection.close();
      return { accepted: countAccepted(result), refused: result.refused, slowestMs: percentile(result.latencies, 1) };
    },
  };
}
