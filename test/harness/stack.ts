import { randomBytes } from 'node:crypto';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { enableSigning } from '@orders/database/accounts/signing-secrets.ts';
import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { type IntakeConfig, readConfig as readIntakeConfig } from '@orders/intake/config.ts';
import { createIntake } from '@orders/intake/create-intake.ts';
import { type NotifierConfig, readConfig as readNotifierConfig } from '@orders/notifier/config.ts';
import { createNotifier } from '@orders/notifier/create-notifier.ts';
import { type PortalConfig, readConfig as readPortalConfig } from '@orders/portal/config.ts';
import { createPortal } from '@orders/portal/create-portal.ts';
import type { Service } from '@orders/runtime/lifecycle/create-service.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { readConfig as readWorkerConfig, type WorkerConfig } from '@orders/worker/config.ts';
import { createWorker } from '@orders/worker/create-worker.ts';
import { type Api, openApi, type TestAccount } from './api.ts';
import { closeAtEnd } from './close-at-end.ts';
import type { RoleOf } from './database.ts';
import { createTestDatabase, PREPARED, type TestDatabase } from './database.ts';
import { memoryLog } from './log.ts';
import { type QueueKind, startQueue, type TestQueue } from './queue.ts';

export type { TestAccount } from './api.ts';

/** A database and a queue for one test file, and the apps that it starts. */
export interface Stack {
  database: TestDatabase;
  queue: TestQueue;
  secretsKey: Buffer;
  /** The environment of a process that runs on this stack as the owner of the database. The apps started here have their own roles. */
  env: Record<string, string>;
  /** With `events`, its event log is on. */
  account(options?: { signing?: boolean; events?: boolean }): Promise<TestAccount>;
  /** Opens a pool like those of the apps, for the prepared statements. */
  openDatabase(): Database;
  intake(settings?: Record<string, string>): Promise<RunningIntake>;
  worker(settings?: Record<string, string>): Promise<RunningWorker>;
  /** It may deliver to `127.0.0.1` by http. */
  notifier(settings?: Record<string, string>): Promise<RunningNotifier>;
  /** By default, `INTAKE_URL` is an address at which nothing listens. */
  portal(settings?: Record<string, string>): Promise<RunningPortal>;
  close(): Promise<void>;
}

/** A running app. */
interface Running<Config> {
  /** Drains it. Idempotent. */
  close(): Promise<void>;
  service: Service;
  config: Config;
  adminUrl: string;
  log: ReturnType<typeof memoryLog>;
}

export type RunningIntake = Running<IntakeConfig> & { api: Api };
export type RunningWorker = Running<WorkerConfig>;
export type RunningNotifier = Running<NotifierConfig>;
/** `url` is the one for browsers. */
export type RunningPortal = Running<PortalConfig> & { url: string };

/** Waits until an intake is ready and reports this state of its queue. A busy machine can delay an answer of the queue beyond its limit. */
export async function untilQueueIs(state: string, { adminUrl }: RunningIntake): Promise<void> {
  await until(`intake reports the queue as ${state}`, async () => {
    const { ready, queue } = (await (await fetch(`${adminUrl}/health/ready`)).json()) as Record<string, unknown>;
    return ready === true && queue === state;
  });
}

/** log2 of scrypt's N: a hash that is as hard to guess as in production takes 0.4 s of a CPU. */
export const TEST_HASH_COST = '10';

/** Short times of retries and sweeps. A lease, a statement or a wait for Redis ends only if a test says so. */
const QUICK = {
  RETRY_BASE: '50ms',
  RETRY_CAP: '200ms',
  LEASE: '10m',
  SWEEP_INTERVAL: '200ms',
  SWEEP_AFTER: '700ms',
  PG_QUERY_TIMEOUT: '10m',
  RATE_LIMIT_TIMEOUT: '10m',
};

/** For `Stack.env`, when a process or Postgres is lost: what it left behind ends by itself. */
export const SOON_EXPIRED = { LEASE: '1500ms', PG_QUERY_TIMEOUT: '5s' };

/**
 * Starts no app yet. The stack is closed after the test file.
 *
 * @param own the test's own services, such as one that it breaks; the stack closes them too. `secretsKey`: that of another stack.
 */
export async function startStack(
  kind: QueueKind,
  own: { queue?: TestQueue; database?: TestDatabase; secretsKey?: Buffer } = {},
): Promise<Stack> {
  const database = own.database ?? (await createTestDatabase());
  const theQueue = own.queue ?? (await startQueue(kind, database.directUrl));
  const secretsKey = own.secretsKey ?? randomBytes(32);
  const env = {
    ...QUICK,
    DATABASE_URL: database.url,
    PG_PREPARED: PREPARED ? 'on' : 'off',
    QUEUE_URL: theQueue.url,
    SECRETS_KEY: secretsKey.toString('base64'),
    PORT: '0',
  };
  /** The queue on Postgres is used with the app's role too, and without the pooler. */
  const queueUrlOf = (role: string) => {
    if (theQueue.url !== database.directUrl) return theQueue.url;
    const { username, password } = new URL(role);
    return Object.assign(new URL(database.directUrl), { username, password }).href;
  };
  const envOf = (app: RoleOf) => {
    const role = database.urlOf?.(app);
    return { ...env, ...(role && { DATABASE_URL: role, QUEUE_URL: queueUrlOf(role) }) };
  };
  const closes: (() => Promise<void>)[] = [];
  /** Starts an app, which is closed with the stack if the test does not close it before. */
  async function start<Config>(
    name: string,
    create: (config: Config, options: { logger: Logger }) => Service,
    config: Config,
  ): Promise<Running<Config>> {
    const log = memoryLog(name);
    const service = create(config, { logger: log.logger });
    let closing: Promise<void> | undefined;
    const close = () => (closing ??= service.close());
    closes.push(close);
    await service.start();
    return { service, close, config, log, adminUrl: `http://127.0.0.1:${service.adminPort}` };
  }
  return closeAtEnd({
    database,
    queue: theQueue,
    secretsKey,
    env,
    async account({ signing = false, events = false } = {}) {
      const { account_id: id } = await createAccount(database.db, `test ${randomBytes(3).toString('hex')}`);
      const { key } = await createKey(database.db, id, 'test');
      if (events) await setEvents(database.db, id, true);
      const secret = signing ? (await enableSigning(database.db, secretsKey, id)).secret : null;
      return { id, key, secret };
    },
    openDatabase() {
      const pool = openDatabase({ url: database.url, poolSize: 2, prepared: PREPARED });
      closes.push(() => closeDatabase(pool));
      return pool;
    },
    async intake(settings = {}) {
      const config = readIntakeConfig({ ...envOf('intake'), ...settings });
      const running = await start('intake', createIntake, config);
      return { ...running, api: await openApi(`http://127.0.0.1:${running.service.port}${config.BASE_PATH}`) };
    },
    worker: async (settings = {}) =>
      start('worker', createWorker, readWorkerConfig({ ...envOf('worker'), ...settings })),
    async notifier(settings = {}) {
      const own = { CALLBACK_ALLOW: '127.0.0.1:*', CALLBACK_RATE: '1000' };
      return start('notifier', createNotifier, readNotifierConfig({ ...envOf('notifier'), ...own, ...settings }));
    },
    async portal(settings = {}) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const own = {
        PORT: String(port),
        PORTAL_URL: url,
        INTAKE_URL: 'http://127.0.0.1:9',
        ...(!settings.PORTAL_URL && { OPERATOR_SECOND_FACTOR: 'optional', PASSWORD_HASH_COST: TEST_HASH_COST }),
      };
      const config = readPortalConfig({ ...envOf('portal'), ...own, ...settings });
      return { ...(await start('portal', createPortal, config)), url };
    },
    async close() {
      for (const close of closes.splice(0).reverse()) await close();
      await theQueue.close();
      await database.close();
    },
  } satisfies Stack);
}

/** Starts a stack for one test and closes it after the test, even if the test fails. */
export async function withStack(kind: QueueKind, work: (stack: Stack) => Promise<void>): Promise<void> {
  const stack = await startStack(kind);
  try {
    await work(stack);
  } finally {
    await stack.close();
  }
}
