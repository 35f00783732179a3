import { join } from 'node:path';
import { startProgram, untilListening } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { withClient } from '@orders/test-services/databases.ts';
import type { Load, LoadResult } from '@orders/test-services/load/run-load.ts';
import { freePort } from '@orders/test-services/ports.ts';
import type pg from 'pg';
import { type Contestant, OURS } from './contestants.ts';
import type { OrderSize } from './large-orders.ts';
import type { Services } from './services.ts';
import { type Driver, withDriver } from './start-driver.ts';

/** A running contestant. */
export interface Running {
  databaseUrl: string;
  /** A client of its database. */
  client: pg.Client;
  apiKeys: string[];
  accountIds: number[];
  intakes: Child[];
  workers: Child[];
  /** The URLs for orders, of each intake. */
  urls: string[];
  /** @throws {Error} as soon as one of its processes exits unexpectedly. */
  whileAlive<T>(work: Promise<T>): Promise<T>;
  /** Sends orders, by default of all accounts and from a driver of its own. */
  offer(load: Load, seconds: number, prefix: string, options?: OfferOptions): Promise<LoadResult>;
}

interface OfferOptions {
  apiKeys?: string[];
  driver?: Driver;
  orderSize?: OrderSize | undefined;
}

export interface StartOptions {
  /** A directory for CPU profiles. */
  profileTo?: string | undefined;
  /** Is added to the environment of each process. */
  env?: Record<string, string>;
}

let databases = 0;

/** Runs work with the processes of a contestant, on an empty database. Their output goes to files. */
export async function withContestant<Result>(
  services: Services,
  contestant: Contestant,
  options: StartOptions,
  work: (running: Running) => Promise<Result>,
): Promise<Result> {
  const { replicas = 1 } = contestant;
  databases += 1;
  const databaseUrl = await services.fresh(`bench_${databases}`);
  const { env, apiKeys, accountIds } = await contestant.prepare(databaseUrl, services.redisUrl);
  const children: Child[] = [];
  const died = Promise.withResolvers<never>();
  died.promise.catch(() => {});
  let isStopping = false;

  async function start(role: string, program: string, port = 0): Promise<Child> {
    const file = join(services.directory, `${contestant.name}-${role}.log`);
    const all = { NODE_ENV: 'production', ...env, ...options.env, PORT: String(port) };
    const nodeArgs = options.profileTo ? ['--cpu-prof', `--cpu-prof-dir=${options.profileTo}`] : [];
    const child = await startProgram(program, all, { nodeArgs, output: { file } });
    children.push(child);
    void child.exited.then(() => {
      if (!isStopping) died.reject(new Error(`${contestant.name}: its ${role} exited unexpectedly`));
    });
    return child;
  }

  const whileAlive: Running['whileAlive'] = (run) => Promise.race([run, died.promise]);

  async function offer(...[load, seconds, prefix, options = {}]: Parameters<Running['offer']>): Promise<LoadResult> {
    const { driver, ...others } = options;
    const orders = { urls, apiKeys, load, seconds, prefix, ...others };
    const send = (by: Driver) => by.send(orders);
    return whileAlive(driver ? send(driver) : withDriver(send));
  }

  const urls: string[] = [];
  try {
    const [intakes, workers]: [Child[], Child[]] = [[], []];
    while (intakes.length < replicas) {
      const port = await freePort();
      intakes.push(await start(`intake-${intakes.length + 1}`, contestant.intake, port));
      await whileAlive(untilListening(port));
      urls.push(`http://127.0.0.1:${port}/ingest/orders`);
    }
    while (contestant.worker && workers.length < replicas)
      workers.push(await start(`worker-${workers.length + 1}`, contestant.worker));
    const started = { databaseUrl, urls, apiKeys, accountIds, intakes, workers, whileAlive, offer };
    return await withClient(databaseUrl, (client) => work({ ...started, client }));
  } finally {
    isStopping = true;
    await Promise.all(children.map((child) => child.stop()));
    await services.drop(databaseUrl);
  }
}

/** Runs work with one intake and workers of this service, on an empty database. */
export const withOurs = <Result>(
  services: Services,
  work: (running: Running) => Promise<Result>,
  options: StartOptions = {},
): Promise<Result> => withContestant(services, OURS, options, work);
