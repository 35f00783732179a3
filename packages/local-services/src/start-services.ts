import { join } from 'node:path';
import { hasDocker, startRedisContainer } from './containers.ts';
import { ensureDatabase } from './databases.ts';
import { freePort } from './ports.ts';
import { leftoverPostgres, startPostgres } from './postgres.ts';
import { findRedisServer, startRedis } from './redis.ts';
import { supervise } from './supervise.ts';

/** The services that the apps run on, and how to end those that were started here. */
export interface LocalServices {
  databaseUrl: string;
  queueUrl: string;
  /** Which they are, in words. */
  database: string;
  queue: string;
  /** Settles, with what to tell, when one that was started here does not keep running. */
  failed: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Gets Postgres and a queue by one rule: what DATABASE_URL and QUEUE_URL name; else the embedded Postgres; else for the queue a Redis or
 * Valkey from the PATH, else one in a container, else BullMQ on Postgres.
 */
export async function startServices(options: {
  directory: string;
  postgresPassword: string;
  databaseUrl?: string | undefined;
  queueUrl?: string | undefined;
  say: (text: string) => void;
}): Promise<LocalServices> {
  const stops: (() => Promise<void>)[] = [];
  const failures: Promise<string>[] = [];
  const stop = async () => {
    for (const end of stops.reverse()) await end();
  };

  async function getPostgres(): Promise<{ url: string; what: string }> {
    if (options.databaseUrl) return { url: options.databaseUrl, what: 'the Postgres of DATABASE_URL' };
    const directory = join(options.directory, 'postgres');
    const leftover = await leftoverPostgres(directory);
    if (leftover) {
      throw new Error(`A Postgres from an earlier start still runs here; end it with: kill -INT ${leftover}`);
    }
    const port = await freePort();
    let url = '';
    const start = async () => {
      const postgres = await startPostgres({ directory, port, password: options.postgresPassword });
      url = postgres.url;
      return postgres;
    };
    const postgres = await supervise('Postgres', start, options.say);
    stops.push(postgres.stop);
    failures.push(postgres.failed);
    await ensureDatabase(url);
    return { url, what: 'an embedded Postgres' };
  }

  async function getQueue(databaseUrl: string): Promise<{ url: string; what: string }> {
    if (options.queueUrl) return { url: options.queueUrl, what: 'the queue of QUEUE_URL' };
    if (findRedisServer()) {
      const redis = await startRedis({ directory: join(options.directory, 'redis') });
      let stopping = false;
      stops.push(() => {
        stopping = true;
        return redis.child.stop();
      });
      // It is not started again: the service is made to do without it, and who ended it may want to see that.
      void redis.child.exited.then(() => {
        if (!stopping)
          options.say(
            `${redis.program} ended by itself. Orders are still accepted, and written once one runs again: ${redis.program} --port ${redis.port}`,
          );
      });
      return { url: redis.url, what: `a private ${redis.program}` };
    }
    if (await hasDocker()) {
      const container = await startRedisContainer().catch(() => null);
      if (container) {
        stops.push(() => container.stop());
        return { url: container.url, what: 'Redis in a container' };
      }
    }
    return { url: databaseUrl, what: 'BullMQ on Postgres (no Redis, Valkey or Docker here)' };
  }

  try {
    const database = await getPostgres();
    const queue = await getQueue(database.url);
    const failed = Promise.race([...failures, new Promise<string>(() => {})]);
    return { databaseUrl: database.url, queueUrl: queue.url, database: database.what, queue: queue.what, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
