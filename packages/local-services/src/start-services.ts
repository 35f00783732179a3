import { join } from 'node:path';
import { hasDocker, startRedisContainer } from './containers.ts';
import { ensureDatabase } from './databases.ts';
import { leftoverPostgres, startPostgres } from './postgres.ts';
import { findRedisServer, startRedis } from './redis.ts';

/** The services that the apps run on, and how to end those that were started here. */
export interface LocalServices {
  databaseUrl: string;
  queueUrl: string;
  /** Which they are, in words. */
  database: string;
  queue: string;
  /** Settles when one that was started here ends by itself, with its name. */
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
    const postgres = await startPostgres({ directory, password: options.postgresPassword });
    stops.push(() => postgres.stop());
    failures.push(postgres.exited.then(() => 'Postgres'));
    await ensureDatabase(postgres.url);
    return { url: postgres.url, what: 'an embedded Postgres' };
  }

  async function getQueue(databaseUrl: string): Promise<{ url: string; what: string }> {
    if (options.queueUrl) return { url: options.queueUrl, what: 'the queue of QUEUE_URL' };
    if (findRedisServer()) {
      const redis = await startRedis({ directory: join(options.directory, 'redis') });
      stops.push(() => redis.child.stop());
      failures.push(redis.child.exited.then(() => redis.program));
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
