import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { enableSigning } from '@orders/database/accounts/signing-secrets.ts';
import { createEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { migrate } from '@orders/database/migrate.ts';
import { createSource } from '@orders/database/sources/change-sources.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { ensureDatabase, withClient } from '@orders/test-services/databases.ts';
import { type FaultyPostgres, startFaultyPostgres } from '@orders/test-services/faulty-postgres.ts';
import { type FaultyRedis, startFaultyRedis } from '@orders/test-services/faulty-redis.ts';
import { startMachines, whyNoMachines } from '@orders/test-services/machines.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { findRedisServer } from '@orders/test-services/redis.ts';
import { type StoresCluster, startStoresCluster, whyNoCluster } from '@orders/test-services/stores-cluster.ts';
import { type App, startApp } from './apps.ts';
import { type EndpointReceiver, endpointUrl, startEndpointReceiver } from './endpoint-receiver.ts';
import type { Findings } from './findings.ts';
import type { Sender } from './ledger.ts';
import { type MemoryDisk, mountMemoryDisk } from './memory-disk.ts';

/** A small deployment of the service: two processes of each app, on stores with fault injection. */
export interface Deployment {
  /** Of the only Postgres, or of the primary of the cluster. */
  databaseUrl: string;
  /** Null if there is a cluster. */
  postgres: FaultyPostgres | null;
  cluster: StoresCluster | null;
  /** The disk with the data of Postgres; null if it is the machine's own disk, which is never filled. */
  disk: MemoryDisk | null;
  /** Null if there is a cluster. */
  redis: FaultyRedis | null;
  intakes: App[];
  workers: App[];
  notifiers: App[];
  /** One for each account with events. */
  endpoints: EndpointReceiver[];
  /** The URLs of the intakes. */
  urls: string[];
  senders: Sender[];
  secretsKey: Buffer;
  /** For files of more services; gone at the end. */
  directory: string;
  /** Starts a process of an app with these settings added to those of the deployment; its close is added to `ends`. */
  launch(app: string, name: string, own: Record<string, string>, ends: (() => Promise<void>)[]): Promise<App>;
  /** What `stop` ends too, before all else. */
  atEnd(end: () => Promise<void>): void;
  stop(): Promise<void>;
}

/** The number of attempts of an order that cannot be written. */
export const RETRY_ATTEMPTS = 3;

/** Short times, so that expired leases, sweeps and all attempts happen within a round. */
const SHORT_TIMES = {
  LEASE: '2s',
  SWEEP_AFTER: '1s',
  SWEEP_INTERVAL: '250ms',
  RETRY_BASE: '100ms',
  RETRY_CAP: '500ms',
  RETRY_ATTEMPTS: String(RETRY_ATTEMPTS),
  PG_QUERY_TIMEOUT: '2s',
  DRAIN_TIMEOUT: '10s',
};

const PROCESSES_PER_APP = 2;
const SENDERS = 4;
/** The others verify that an account without events has none. */
const SENDERS_WITH_EVENTS = 2;
const DISK_BYTES = 2 ** 32;
/** Of a cluster. */
const MACHINES = 3;
/**
 * Frequent checkpoints, like a database that runs for days, no restart after a crash, so that each crash is detected, and what a moving
 * account needs.
 */
const POSTGRES_SETTINGS = [
  'max_wal_size=128MB',
  'checkpoint_timeout=30s',
  'restart_after_crash=off',
  'wal_level=logical',
];

/** Makes certain orders fail to write. No real order causes this. */
const POISON = `
create function refuse_poison() returns trigger language plpgsql as $$ begin raise exception 'poison'; end $$;
create trigger refuse_poison before insert on orders for each row
when (new.source_order_id like 'poison-%') execute function refuse_poison()`;

/**
 * Starts all services and processes.
 *
 * @param options `logs` is a directory for the logs of the processes. By default they are deleted at the end. `isCluster`: the stores are on
 * three machines.
 * @throws {Error} with one line that says what is missing.
 */
export async function startDeployment(options: {
  findings: Findings;
  logs?: string | undefined;
  isCluster: boolean;
}): Promise<Deployment> {
  if (!findRedisServer()) throw new Error('There is no redis-server or valkey-server on the PATH.');
  const directory = await mkdtemp(join(tmpdir(), 'orders-faults-'));
  const ends = [() => rm(directory, { recursive: true, force: true })];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return { ...(await start(directory, options, ends)), atEnd: (end) => void ends.push(end), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  directory: string,
  { findings, isCluster, logs = join(directory, 'logs') }: Parameters<typeof startDeployment>[0],
  ends: (() => Promise<void>)[],
): Promise<Omit<Deployment, 'atEnd' | 'stop'>> {
  // Postgres runs as another user if this process runs as root.
  await chmod(directory, 0o755);
  await mkdir(logs, { recursive: true });
  const place = join(directory, 'disk');
  const disk = await mountMemoryDisk(place, DISK_BYTES);
  if (disk) ends.push(disk.unmount);
  const [postgres, cluster] = isCluster
    ? [null, await startCluster(place, logs, ends)]
    : [await startSingle(join(place, 'postgres'), { disk, findings, ends }), null];
  const databaseUrl = postgres?.url ?? cluster?.databaseUrl ?? '';
  const redis = cluster ? null : await startFaultyRedis(await freePort());
  if (redis) ends.push(redis.close);
  const secretsKey = randomBytes(32);
  const { senders, endpoints } = await prepare(databaseUrl, secretsKey, findings);
  ends.push(...endpoints.map(({ close }) => close));

  const env = {
    NODE_ENV: 'production',
    LOG_FORMAT: 'json',
    ...SHORT_TIMES,
    DATABASE_URL: databaseUrl,
    QUEUE_URL: redis?.url ?? cluster?.queueUrl,
    SECRETS_KEY: secretsKey.toString('base64'),
    CALLBACK_ALLOW: '127.0.0.1:*',
    CALLBACK_RATE: '100000',
  };
  const launch: Deployment['launch'] = async (app, name, own, itsEnds) => {
    const waitsFor = Number(own.ADMIN_PORT) || undefined;
    const log = join(logs, `${name}.log`);
    const started = await startApp({ app, name, env: { ...env, ...own }, log, findings, waitsFor });
    itsEnds.push(started.close);
    return started;
  };

  const [intakes, workers, notifiers, urls]: [App[], App[], App[], string[]] = [[], [], [], []];
  for (let number = 1; number <= PROCESSES_PER_APP; number += 1) {
    const [port, adminPort] = [await freePort(), await freePort()];
    urls.push(`http://127.0.0.1:${port}`);
    const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
    intakes.push(await launch('intake', `intake-${number}`, ports, ends));
    workers.push(await launch('worker', `worker-${number}`, {}, ends));
    notifiers.push(await launch('notifier', `notifier-${number}`, {}, ends));
  }
  const stores = { databaseUrl, postgres, cluster, disk, redis };
  return { ...stores, intakes, workers, notifiers, endpoints, urls, senders, secretsKey, directory, launch };
}

async function startSingle(
  directory: string,
  { disk, findings, ends }: { disk: MemoryDisk | null; findings: Findings; ends: (() => Promise<void>)[] },
): Promise<FaultyPostgres> {
  const postgres = await startFaultyPostgres({
    directory,
    password: 'faults',
    port: await freePort(),
    settings: POSTGRES_SETTINGS,
    onUnexpectedExit(lastLines) {
      // A Postgres without disk space may exit.
      if (disk?.isFull) return;
      const errorLines = lastLines.filter(
        (line) => /(LOG|DETAIL|FATAL|PANIC): /.test(line) && !/in recovery mode/.test(line),
      );
      findings.add({
        name: 'postgres-crashed',
        id: new Date().toISOString(),
        detail: errorLines.slice(-6).join(' ⏎ '),
      });
      if (!postgres.isRunning) void postgres.start().catch(() => {});
    },
  });
  ends.push(postgres.close);
  return postgres;
}

async function startCluster(place: string, logs: string, ends: (() => Promise<void>)[]): Promise<StoresCluster> {
  const missing = (await whyNoMachines()) ?? whyNoCluster();
  if (missing) throw new Error(`There can be no cluster here: ${missing}.`);
  const machines = await startMachines(MACHINES);
  ends.push(machines.close);
  const directory = join(place, 'cluster');
  await mkdir(directory);
  const cluster = await startStoresCluster({ directory, logs, machines: machines.all });
  ends.push(cluster.close);
  return cluster;
}

const RESTART_TIMEOUT_MS = 120_000;

/** Starts a single Postgres if it is down, also if it exits during this call, and resolves when queries are accepted. */
export async function restartPostgres({ postgres, databaseUrl }: Deployment): Promise<void> {
  for (const startedAt = Date.now(); ; await sleep(50)) {
    try {
      if (postgres && !postgres.isRunning) await postgres.start();
      await withClient(databaseUrl, (client) => client.query('select 1'));
      return;
    } catch (error) {
      if (Date.now() - startedAt > RESTART_TIMEOUT_MS) throw error;
    }
  }
}

async function prepare(
  databaseUrl: string,
  secretsKey: Buffer,
  findings: Findings,
): Promise<Pick<Deployment, 'senders' | 'endpoints'>> {
  await ensureDatabase(databaseUrl);
  return withKnex({ url: databaseUrl }, async (knex) => {
    await migrate(connectionOf(knex));
    // For the rules, which look up every order and its history after each round; the service needs neither.
    await knex.raw('create index on orders (account_id, source_order_id)');
    await knex.raw('create index on audit_events (order_id)');
    await knex.raw(POISON);
    const senders: Sender[] = [];
    const endpoints: EndpointReceiver[] = [];
    while (senders.length < SENDERS) {
      const { account_id: accountId } = await createAccount(connectionOf(knex), `Sender ${senders.length + 1}`);
      const { key: apiKey } = await createKey(connectionOf(knex), accountId, 'faults');
      const { secret: signingSecret } = await enableSigning(connectionOf(knex), secretsKey, accountId);
      // It sends the orders that the sender also sends by REST, so its ids have no prefix.
      const delivered = { name: 'faults', preset: 'custom' as const, idPrefix: '' };
      const source = { accountId, ...delivered, ...PRESETS.custom, secret: signingSecret };
      const { source_id: sourceId } = await createSource(connectionOf(knex), secretsKey, source, 'faults');
      const hasEvents = senders.length < SENDERS_WITH_EVENTS;
      if (hasEvents) {
        await setEvents(connectionOf(knex), accountId, true);
        const port = await freePort();
        const { secret } = await createEndpoint(connectionOf(knex), secretsKey, {
          accountId,
          url: endpointUrl(port),
          types: null,
        });
        endpoints.push(await startEndpointReceiver({ accountId, secret, port, findings }));
      }
      senders.push({ accountId, apiKey, signingSecret, sourceId, hasEvents });
    }
    return { senders, endpoints };
  });
}
