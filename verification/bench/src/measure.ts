import { countAccepted, type Load, type LoadResult } from '@orders/test-services/load/run-load.ts';
import type { Contestant } from './contestants.ts';
import type { OrderSize } from './large-orders.ts';
import * as postgres from './postgres.ts';
import { type Usage, usageOf, usageOfAll, usageOfTree } from './processes.ts';
import type { Services } from './services.ts';
import { type Running, type StartOptions, withContestant } from './start-contestant.ts';
import { type Driver, withDriver } from './start-driver.ts';
import { percentile, type Quantiles, quantiles } from './statistics.ts';

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

export interface Cell extends Pick<StartOptions, 'profileTo'> {
  contestant: Contestant;
  load: Load;
  orderSize?: OrderSize | undefined;
  seconds: number;
}

/** The name of a load on the command line. */
export function nameOf(load: Load): string {
  return load.kind === 'closed' ? String(load.connections) : `open-${Math.round(load.perSecond)}`;
}

let runs = 0;

/** Starts a contestant on empty services, warms it up, sends the load, waits until all orders are written, and measures. */
export async function measure(services: Services, cell: Cell): Promise<Measurement> {
  return withContestant(services, cell.contestant, cell, (running) =>
    withDriver((driver) => measureRunning(services, cell, running, driver)),
  );
}

async function measureRunning(
  services: Services,
  { contestant, load: wanted, orderSize, seconds }: Cell,
  running: Running,
  driver: Driver,
): Promise<Measurement> {
  runs += 1;
  const stores = contestant.worker !== null;
  const { client, whileAlive } = running;
  const offer = (forSeconds: number, prefix: string) =>
    running.offer(wanted, forSeconds, prefix, { driver, orderSize });
  const sent = { accountIds: running.accountIds, prefix: `m${runs}` };
  await client.query('set enable_seqscan = off');
  await warmUp(running, (prefix) => offer(WARM_UP_SECONDS, prefix), stores);

  const walFrom = await postgres.walPosition(client);
  const deadlocksBefore = await postgres.countDeadlocks(client);
  const commandsBefore = await redisCommands(services);
  const before = await usages(services, running, driver);
  const load = await offer(seconds, sent.prefix);
  const accepted = countAccepted(load);
  const isDone = !stores || (await whileAlive(postgres.untilOrders(client, sent, accepted)));
  const after = await usages(services, running, driver);
  const commands = (await redisCommands(services)) - commandsBefore;
  const wal = await postgres.walBytesSince(client, walFrom);
  const stored = stores ? await postgres.readStoredOrders(client, sent, load.acceptedAt.length) : null;

  const perOrder = (total: number) => total / accepted;
  return {
    contestant: contestant.name,
    load: nameOf(wanted),
    accepted,
    refused: load.refused,
    faults: [
      ...(accepted === 0 ? ['no order was accepted'] : []),
      ...faultsOf(load, stored),
      ...(isDone ? [] : [`not all written ${postgres.STUCK_SECONDS} s after the load`]),
    ],
    acceptedPerSecond: accepted / ((load.endedAt - load.startedAt) / 1000),
    ...timesOf(load, stored, accepted),
    reply: quantiles(load.latencies),
    cpuSecondsPer1000: forEachRole((role) => perOrder(after[role].cpuSeconds - before[role].cpuSeconds) * 1000),
    memoryMiB: forEachRole((role) => after[role].memoryMiB),
    walBytesPerOrder: perOrder(wal.records),
    walPageImageBytesPerOrder: perOrder(wal.pageImages),
    redisCommandsPerOrder: perOrder(commands),
    deadlocks: (await postgres.countDeadlocks(client)) - deadlocksBefore,
  };
}

/** Sends orders before a measurement, and waits until all are written. */
export async function warmUp(
  { client, accountIds, whileAlive }: Running,
  send: (prefix: string) => Promise<LoadResult>,
  stores = true,
): Promise<void> {
  const accepted = countAccepted(await send('warm'));
  if (stores) await whileAlive(postgres.untilOrders(client, { accountIds, prefix: 'warm' }, accepted));
}

function faultsOf(load: LoadResult, stored: postgres.StoredOrders | null): string[] {
  const { lost, doubled } = stored ? postgres.countFaults(load, stored) : { lost: 0, doubled: 0 };
  return [
    ...(lost > 0 ? [`${lost} accepted orders are missing`] : []),
    ...(doubled > 0 ? [`${doubled} orders were written twice`] : []),
  ];
}

function timesOf(load: LoadResult, stored: postgres.StoredOrders | null, accepted: number) {
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

async function usages(services: Services, running: Running, driver: Driver): Promise<Record<Role, Usage>> {
  return {
    intake: await usageOfAll(running.intakes),
    worker: await usageOfAll(running.workers),
    postgres: await usageOfTree(services.postgresPid),
    redis: await usageOf(services.redisPid),
    driver: await usageOf(driver.child.pid),
  };
}

function forEachRole(value: (role: Role) => number): Record<Role, number> {
  return Object.fromEntries(ROLES.map((role) => [role, value(role)])) as Record<Role, number>;
}

async function redisCommands(services: Services): Promise<number> {
  const info = await services.redis.info('stats');
  return Number(/total_commands_processed:(\d+)/.exec(info)?.[1]);
}
