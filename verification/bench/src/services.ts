import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropDatabase, ensureDatabase, withClient } from '@orders/test-services/databases.ts';
import { startPostgres } from '@orders/test-services/postgres.ts';
import { startRedis } from '@orders/test-services/redis.ts';
import { Redis } from 'ioredis';

/** The settings for every contestant, which are published with the results. */
export const POSTGRES_SETTINGS = [
  'fsync=on',
  'synchronous_commit=on',
  'full_page_writes=on',
  'shared_buffers=1GB',
  'max_wal_size=8GB',
  'checkpoint_timeout=30min',
  'track_commit_timestamp=on',
];

/** A temporary Postgres and Redis for the benchmark. */
export interface Services {
  postgresPid: number;
  redisPid: number;
  redisUrl: string;
  redis: Redis;
  /** The directory for the logs of the contestants. */
  directory: string;
  /** Creates the database if it does not exist, flushes Redis, and runs a checkpoint. @returns the URL. */
  fresh(name: string): Promise<string>;
  drop(url: string): Promise<void>;
  stop(): Promise<void>;
}

/** @param postgresPrograms as for `startPostgres`. */
export async function startServices(postgresPrograms?: string): Promise<Services> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-bench-'));
  // Postgres runs as another user if this process runs as root.
  await chmod(directory, 0o755);
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    password: 'bench',
    settings: POSTGRES_SETTINGS,
    programs: postgresPrograms,
  });
  const redisServer = await startRedis({ directory: join(directory, 'redis') });
  const redis = new Redis(redisServer.url);
  return {
    postgresPid: postgres.pid,
    redisPid: redisServer.child.pid,
    redisUrl: redisServer.url,
    redis,
    directory,
    async fresh(name) {
      const { href } = Object.assign(new URL(postgres.url), { pathname: `/${name}` });
      await ensureDatabase(href);
      await redis.flushall();
      await withClient(href, (client) => client.query('checkpoint'));
      return href;
    },
    drop: dropDatabase,
    async stop() {
      redis.disconnect();
      await redisServer.child.stop();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
