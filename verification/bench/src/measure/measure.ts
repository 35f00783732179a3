import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '@orders/test-services/child.ts';
import pg from 'pg';
import type { Contestant } from '../contestants.ts';
import type { OrderSize } from '../load/large-orders.ts';
import type { Load, LoadResult } from '../load/run-load.ts';
import { type Driver, startDriver } from '../load/start-driver.ts';
import type { Services } from '../services.ts';
import { type Running, startContestant } from '../start-contestant.ts';
import {
  countDeadlocks,
  countOrders,
  readStoredOrders,
  type SentOrders,
  type StoredOrders,
  walBytesSince,
  walPosition,
} from './postgres.ts';
import { type Usage, usageOf, usageOfTree } from './processes.ts';
import { percentile } from './statistics.ts';

/** The processes whose cost is counted separately. */
export const ROLES = ['intake', 'worker', 'postgres', 'redis', 'driver'] as const;
export type Role = (typeof ROLES)[number];

/** One run of a contestant under a load. Latencies in milliseconds; NaN for missing values. */
export interface Measurement {
  contestant: string;
  load: string;
  /** The number of 202 replies. */
  accepted: number;
  /** Other replies by status; 0 means a failed connection. */
  refused: Record<string, number>;
  /** Faults of the result. It counts only without faults. */
  faults: string[];
  acceptedPerSecond: number;
  /** End to end: from the first request to the commit of the last order. */
  ordersPerSecond: number;
  reply: Quantiles;
  /** From the 202 to the commit of the order. */
  written: Quantiles;
  /** Accepted orders that were not written at the end of the load, in seconds of the end-to-end rate. */
  backlogSeconds: number;
  cpuSecondsPer1000: Record<Role, number>;
  memoryMiB: Record<Role, number>;
  /** Without full-page images. */
  walBytesPerOrder: number;
  walPageImageBytesPerOrder: number;
  redisCommandsPerOrder: number;
  deadlocks: number;
}

/** V8 compiles a process's code for some ten seconds. After three, an order took this service a third more CPU than after twenty. */
export const WARM_UP_SECONDS = 8;

export interface Quantiles {
  p50: number;
  p99: number;
}

export interface Cell {
  contestant: Contestant;
  load: Load;
  orderSize?: OrderSize | undefined;
  seconds: number;
  workers?: number;
  /** An existing database that is kept. By default a new one. */
  databaseUrl?: string;
  /** A directory for CPU profiles. */
  profileTo?: string | undefined;
}

const STUCK_MS = 60_000;
const POLL_INTERVAL_MS = 100;

/** The name of a load on the command line. */
export function nameOf(load: Load): string {
  return load.kind === 'closed' ? String(load.connections) : `open-${Math.round(load.perSecond)}`;
}

let runs = 0;

/** Starts a contestant on empty services, warms it up, sends the load, waits until all orders are written, and measures. */
export async function measure(services: Services, cell: Cell): Promise<Measurement> {
  runs += 1;
  const databaseUrl = cell.databaseUrl ?? (await services.fresh(`bench_${runs}`));
  const running = await startContestant(cell.contestant, services, databaseUrl, {
    workers: cell.workers ?? cell.contestant.replicas ?? 1,
    profileTo: cell.profileTo,
  });
  const driver = await startDriver();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('set enable_seqscan = off');
  try {
    return await measureRunning(services, cell, running, driver, client);
  } finally {
    await driver.child.stop();
    await running.stop();
    await client.end();
    if (!cell.databaseUrl) await services.drop(databaseUrl);
  }
}

async function measureRunning(
  services: Services,
  cell: Cell,
  running: Running,
  driver: Driver,
  client: pg.Client,
): Promise<Measurement> {
  const stores = cell.contestant.worker !== null;
  const urls = [running.url, ...running.otherIntakes.map(({ url }) => url)];
  const request = { urls, apiKeys: running.apiKeys, load: cell.load, orderSize: cell.orderSize };
  const [warmUpPrefix, prefix] = [`w${runs}`, `m${runs}`];
  const { accountIds } = running;
  const whileAlive = <T>(work: Promise<T>) =>
    Promise.race([work, running.died.then((what) => Promise.reject(new Error(what)))]);

  const warmUp = await whileAlive(driver.run({ ...request, seconds: WARM_UP_SECONDS, prefix: warmUpPrefix }));
  if (stores) await whileAlive(untilOrders(client, { accountIds, prefix: warmUpPrefix }, countAccepted(warmUp)));

  const walFrom = await walPosition(client);
  const deadlocksBefore = await countDeadlocks(client);
  const commandsBefore = await redisCommands(services);
  const before = await usages(services, running, driver);
  const load = await whileAlive(driver.run({ ...request, seconds: cell.seconds, prefix }));
  const accepted = countAccepted(load);
  const isDone = !stores || (await whileAlive(untilOrders(client, { accountIds, prefix }, accepted)));
  const after = await usages(services, running, driver);
  const commands = (await redisCommands(services)) - commandsBefore;
  const wal = await walBytesSince(client, walFrom);
  const stored = stores ? await readStoredOrders(client, { accountIds, prefix }, load.acceptedAt.length) : null;

  const perOrder = (total: number) => total / accepted;
  return {
    contestant: cell.contestant.name,
    load: nameOf(cell.load),
    accepted,
    refused: load.refused,
    faults: [
      ...(accepted === 0 ? ['no order was accepted'] : []),
      ...faultsOf(load, stored),
      ...(isDone ? [] : [`not all written ${STUCK_MS / 1000} s after the load`]),
    ],
    acceptedPerSecond: accepted / ((load.endedAt - load.startedAt) / 1000),
    ...timesOf(load, stored, accepted),
    reply: quantiles(load.latencies),
    cpuSecondsPer1000: forEachRole((role) => perOrder(after[role].cpuSeconds - before[role].cpuSeconds) * 1000),
    memoryMiB: forEachRole((role) => after[role].memoryMiB),
    walBytesPerOrder: perOrder(wal.records),
    walPageImageBytesPerOrder: perOrder(wal.pageImages),
    redisCommandsPerOrder: perOrder(commands),
    deadlocks: (await countDeadlocks(client)) - deadlocksBefore,
  };
}

/** @returns false after a minute without progress. */
async function untilOrders(client: pg.Client, sent: SentOrders, wanted: number): Promise<boolean> {
  let seen = 0;
  for (let progressAt = Date.now(); Date.now() - progressAt < STUCK_MS; await sleep(POLL_INTERVAL_MS)) {
    const orders = await countOrders(client, sent);
    if (orders >= wanted) return true;
    if (orders > seen) progressAt = Date.now();
    seen = orders;
  }
  return false;
}

function countAccepted(load: LoadResult): number {
  return load.acceptedAt.reduce((sum, at) => sum + (Number.isNaN(at) ? 0 : 1), 0);
}

/** An order with a 202 must be stored once. Any other order may be stored, because its reply may have been lost. */
function faultsOf(load: LoadResult, stored: StoredOrders | null): string[] {
  if (!stored) return [];
  const lost = load.acceptedAt.reduce(
    (sum, at, number) => sum + (!Number.isNaN(at) && Number.isNaN(stored.writtenAt[number] as number) ? 1 : 0),
    0,
  );
  return [
    ...(lost > 0 ? [`${lost} accepted orders are missing`] : []),
    ...(stored.extra > 0 ? [`${stored.extra} orders were written twice`] : []),
  ];
}

function timesOf(load: LoadResult, stored: StoredOrders | null, accepted: number) {
  const { startedAt, endedAt, acceptedAt } = load;
  if (!stored) {
    const ordersPerSecond = accepted / ((endedAt - startedAt) / 1000);
    return { ordersPerSecond, written: { p50: Number.NaN, p99: Number.NaN }, backlogSeconds: Number.NaN };
  }
  const lastWritten = percentile(stored.writtenAt, 1);
  const ordersPerSecond = accepted / ((lastWritten - startedAt) / 1000);
  const backlog = stored.writtenAt.reduce((sum, at) => sum + (at > endedAt ? 1 : 0), 0);
  return {
    ordersPerSecond,
    written: quantiles(stored.writtenAt.map((at, number) => at - (acceptedAt[number] as number))),
    backlogSeconds: backlog / ordersPerSecond,
  };
}

function quantiles(values: Float64Array): Quantiles {
  return { p50: percentile(values, 0.5), p99: percentile(values, 0.99) };
}

async function usages(services: Services, running: Running, driver: Driver): Promise<Record<Role, Usage>> {
  const nothing = { cpuSeconds: Number.NaN, memoryMiB: Number.NaN };
  return {
    intake: await usageOfAll([running.intake, ...running.otherIntakes.map(({ child }) => child)]),
    worker: await usageOfAll(running.workers),
    postgres: (await usageOfTree(services.postgresPid)) ?? nothing,
    redis: (await usageOf(services.redisPid)) ?? nothing,
    driver: (await usageOf(driver.child.pid)) ?? nothing,
  };
}

async function usageOfAll(children: readonly Child[]): Promise<Usage> {
  const sum = { cpuSeconds: 0, memoryMiB: 0 };
  for (const { pid } of children) {
    const usage = await usageOf(pid);
    sum.cpuSeconds += usage?.cpuSeconds ?? Number.NaN;
    sum.memoryMiB += usage?.memoryMiB ?? Number.NaN;
  }
  return sum;
}

function forEachRole(value: (role: Role) => number): Record<Role, number> {
  return Object.fromEntries(ROLES.map((role) => [role, value(role)])) as Record<Role, number>;
}

async function redisCommands(services: Services): Promise<number> {
  const info = await services.redis.info('stats');
  return Number(/total_commands_processed:(\d+)/.exec(info)?.[1]);
}
