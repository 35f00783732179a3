import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureDatabase } from '@orders/test-services/databases.ts';
import { findLeftoverPostgres, startPostgres } from '@orders/test-services/postgres.ts';
import { findRedisServer, startRedis } from '@orders/test-services/redis.ts';
import { type Stoppable, startRestartable } from '@orders/test-services/restartable.ts';

/** The services that the apps use. */
interface LocalServices {
  databaseUrl: string;
  queueUrl: string;
  /** Descriptions to print. */
  database: string;
  queue: string;
  /** Settles with a message when a service started here does not keep running. */
  failed: Promise<string>;
  /** Stops the services that were started here. */
  stop(): Promise<void>;
}

/**
 * Provides Postgres and the queue: from DATABASE_URL and QUEUE_URL if set. Otherwise an embedded Postgres; and for the queue a Redis or
 * Valkey from the PATH, else BullMQ on Postgres.
 */
export async function startServices(options: {
  directory: string;
  postgresPassword: string;
  databaseUrl?: string | undefined;
  queueUrl?: string | undefined;
  ports: { postgres: number; redis: number };
  print: (text: string) => void;
}): Promise<LocalServices> {
  const stops: (() => Promise<void>)[] = [];
  const failures: Promise<string>[] = [];
  const stop = async () => {
    for (const end of stops.reverse()) await end();
  };

  async function providePostgres(): Promise<{ url: string; description: string }> {
    if (options.databaseUrl) return { url: options.databaseUrl, description: 'the Postgres of DATABASE_URL' };
    const directory = join(options.directory, 'postgres');
    const leftover = await findLeftoverPostgres(directory);
    if (leftover) {
      throw new Error(`A Postgres from an earlier start is still running; stop it with: kill -INT ${leftover}`);
    }
    let url = '';
    const start = async () => {
      const postgres = await startPostgres({
        directory,
        port: options.ports.postgres,
        password: options.postgresPassword,
      });
      url = postgres.url;
      return postgres;
    };
    const postgres = await supervise('Postgres', start, options.print);
    stops.push(postgres.stop);
    failures.push(postgres.failed);
    await ensureDatabase(url);
    return { url, description: 'an embedded Postgres' };
  }

  async function provideQueue(databaseUrl: string): Promise<{ url: string; description: string }> {
    if (options.queueUrl) return { url: options.queueUrl, description: 'the queue of QUEUE_URL' };
    if (findRedisServer()) {
      const redis = await startRedis({ directory: join(options.directory, 'redis'), port: options.ports.redis });
      let stopping = false;
      stops.push(() => {
        stopping = true;
        return redis.child.stop();
      });
      // Not restarted: the service works without Redis, and a developer who stops Redis may want to see that.
      void redis.child.exited.then(() => {
        if (!stopping)
          options.print(
            `${redis.program} exited. Orders are still accepted and will be written after it is started again: ${redis.program} --port ${redis.port}`,
          );
      });
      return { url: redis.url, description: `a private ${redis.program}` };
    }
    return { url: databaseUrl, description: 'BullMQ on Postgres (no redis-server or valkey-server on the PATH)' };
  }

  try {
    const database = await providePostgres();
    const queue = await provideQueue(database.url);
    const failed = Promise.race([...failures, new Promise<string>(() => {})]);
    return {
      databaseUrl: database.url,
      queueUrl: queue.url,
      database: database.description,
      queue: queue.description,
      failed,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export interface Supervised {
  /** Settles with a message when the process does not keep running. */
  failed: Promise<string>;
  /** Stops it permanently. */
  stop(): Promise<void>;
}

const MAX_QUICK_EXITS = 3;
const QUICK_EXIT_MS = 5000;

/**
 * Starts a process and restarts it whenever it exits, until it has exited three times in a row within seconds of its start.
 *
 * @throws the error of the first start.
 */
export async function supervise(
  name: string,
  start: () => Promise<Stoppable>,
  print: (text: string) => void,
): Promise<Supervised> {
  const failed = Promise.withResolvers<string>();
  let startedAt = Date.now();
  let quickExits = 0;
  let isStopping = false;
  const process = await startRestartable(start, () => void restart());

  async function restart(): Promise<void> {
    quickExits = Date.now() - startedAt < QUICK_EXIT_MS ? quickExits + 1 : 0;
    if (quickExits >= MAX_QUICK_EXITS) return failed.resolve(`${name} does not keep running; see its log above`);
    print(`${name} exited; restarting it.`);
    await sleep(250);
    if (isStopping) return;
    startedAt = Date.now();
    await process.start().catch((error) => failed.resolve(`${name} cannot be restarted: ${error.message}`));
  }

  return {
    failed: failed.promise,
    async stop() {
      isStopping = true;
      await process.close();
    },
  };
}
