import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseEnvironment, type Child, startChild } from '@orders/test-services/child.ts';
import { openKnex } from '@orders/test-services/open-knex.ts';
import { type Contestant, OURS } from '../contestants.ts';
import { openConnection } from '../load/connection.ts';
import { makeOrder } from '../load/make-order.ts';
import type { Services } from '../services.ts';
import { startContestant } from '../start-contestant.ts';
import { addKeys, age, countExpired, countOldPartitions, hotShare, pagesRead } from './age.ts';

export interface AgingPlan {
  cycles: number;
  /** Idempotency keys added in each cycle. Half of them are expired. */
  keys: number;
  /** Receipts in each dropped week. */
  receipts: number;
  /** The minimum duration of the load of a cycle. */
  seconds: number;
}

/** The maintenance of one cycle under load. Times are seconds from the start of the worker. */
export interface Cycle {
  keysRemovedAfter: number;
  partitionsDroppedAfter: number;
  /** Pages that the search for expired keys reads when there are none. */
  pages: { read: number; total: number };
  load: KeyedLoad;
  /** Seconds from SIGTERM (while keys are removed) to the exit of the worker, and its exit code. */
  drain: { seconds: number; exitCode: number | null };
}

export interface Aging {
  cycles: Cycle[];
  /** The share of HOT updates among all receipt updates of the run. */
  hotShare: number;
}

const CONNECTIONS = 32;
const TIMEOUT_MS = 120_000;

/** Simulates TTLs of idempotency keys and weeks of receipts with rows of old times, while orders with keys arrive. */
export async function runAging(
  services: Services,
  plan: AgingPlan,
  printProgress: (text: string) => void,
): Promise<Aging> {
  const databaseUrl = await services.fresh('aging');
  let env: Record<string, string> = {};
  const contestant: Contestant = {
    ...OURS,
    async prepare(...urls) {
      const prepared = await OURS.prepare(...urls);
      env = prepared.env;
      return prepared;
    },
  };
  const running = await startContestant(contestant, services, databaseUrl, { workers: 0 });
  const knex = openKnex({ url: databaseUrl, applicationName: 'orders bench' });
  const workers: Child[] = [];
  const startWorker = async () => {
    const log = await open(join(services.directory, 'aging-worker.log'), 'a');
    const options = { env: { ...baseEnvironment(), ...env }, stdio: ['ignore', log.fd, log.fd] as const };
    const worker = await startChild(process.execPath, [OURS.worker as string], {
      ...options,
      stdio: [...options.stdio],
    });
    await log.close();
    workers.push(worker);
    return worker;
  };
  const cycles: Cycle[] = [];
  try {
    for (let cycle = 0; cycle < plan.cycles; cycle += 1) {
      printProgress(`Cycle ${cycle + 1} of ${plan.cycles}: one TTL and two weeks pass …`);
      await age(knex, { cycle, ...plan });
      const load = startKeyedLoad(running.url, running.apiKeys, CONNECTIONS, `aging${cycle}`);
      const startedAt = performance.now();
      const first = await startWorker();
      const after = async (count: () => Promise<number>) => {
        await untilNone(count);
        return (performance.now() - startedAt) / 1000;
      };
      const [keysRemovedAfter, partitionsDroppedAfter] = await Promise.all([
        after(() => countExpired(knex)),
        after(() => countOldPartitions(knex)),
      ]);
      await sleep(Math.max(0, plan.seconds * 1000 - (performance.now() - startedAt)));
      const result = await load.stop();
      const pages = await pagesRead(knex);
      await first.stop();
      cycles.push({ keysRemovedAfter, partitionsDroppedAfter, pages, load: result, drain: await drain(plan.keys) });
      printProgress(`    ${describeCycle(cycles.at(-1) as Cycle)}`);
    }
    return { cycles, hotShare: await hotShare(knex) };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await running.stop();
    await knex.destroy();
    await services.drop(databaseUrl);
  }

  async function drain(keys: number): Promise<Cycle['drain']> {
    await addKeys(knex, keys, 1);
    const before = await countExpired(knex);
    const worker = await startWorker();
    while ((await countExpired(knex)) === before) await sleep(5);
    const endedAt = performance.now();
    await worker.stop('SIGTERM', TIMEOUT_MS);
    return { seconds: (performance.now() - endedAt) / 1000, exitCode: worker.process.exitCode };
  }
}

async function untilNone(count: () => Promise<number>): Promise<void> {
  for (const startedAt = Date.now(); Date.now() - startedAt < TIMEOUT_MS; await sleep(100)) {
    if (Number(await count()) === 0) return;
  }
  throw new Error(`maintenance was not done after ${TIMEOUT_MS / 1000} seconds`);
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

/** Whether an order was rejected or a drain failed. */
export function hasFailed({ cycles }: Aging): boolean {
  return cycles.some(({ load, drain }) => Object.keys(load.refused).length > 0 || drain.exitCode !== 0);
}

/** Formats the results, one per line. */
export function renderAging({ cycles, hotShare: share }: Aging): string {
  return [
    ...cycles.map((cycle, index) => `cycle ${index + 1}: ${describeCycle(cycle)}`),
    `${(share * 100).toFixed(1)} % of the updates of receipts stayed on their page (HOT)`,
  ].join('\n');
}

/** The results of a closed loop of orders with idempotency keys. */
interface KeyedLoad {
  accepted: number;
  /** Replies other than 202, by status; 0 stands for a failed connection. */
  refused: Record<string, number>;
  slowestMs: number;
}

/** Sends orders, each with its own key, until stopped. */
function startKeyedLoad(
  url: string,
  apiKeys: readonly string[],
  connections: number,
  prefix: string,
): { stop(): Promise<KeyedLoad> } {
  const load: KeyedLoad = { accepted: 0, refused: {}, slowestMs: 0 };
  let stopping = false;
  let sent = 0;

  const loops = Array.from({ length: connections }, (_, index) => {
    const connection = openConnection(url, apiKeys[index % apiKeys.length] as string);
    return new Promise<void>((resolve) => {
      const next = () => {
        if (stopping) {
          connection.close();
          resolve();
          return;
        }
        const number = sent++;
        const id = `${prefix}-${number}`;
        const sentAt = performance.now();
        const done = ({ status, at }: { status: number; at: number }) => {
          load.slowestMs = Math.max(load.slowestMs, at - sentAt);
          if (status === 202) load.accepted += 1;
          else load.refused[status] = (load.refused[status] ?? 0) + 1;
          next();
        };
        connection.send(makeOrder(id, number), done, { 'content-type': 'application/json', 'idempotency-key': id });
      };
      next();
    });
  });
  return {
    async stop() {
      stopping = true;
      await Promise.all(loops);
      return load;
    },
  };
}
