import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isServedClientPacked, packServedClient } from '@orders/bundle/pack-client.ts';
import { migrate } from '@orders/database/migrate.ts';
import { migrateQueue } from '@orders/queue/bullmq.ts';
import { ensureDatabase } from '@orders/test-services/databases.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { startPostgres } from '@orders/test-services/postgres.ts';
import { findRedisServer } from '@orders/test-services/redis.ts';
import { buildPage, isPageBuilt } from '../../packages/dev-server/src/build-page.ts';
import { createAppRoles, keepOrderRange } from '../harness/database.ts';
import { startPgBouncer } from '../harness/pgbouncer.ts';

const stops: (() => Promise<void>)[] = [];
/** Of the Postgres that this run starts. */
const PASSWORD = 'test';

/**
 * Provides one Postgres for the whole run: that of DATABASE_URL, else one in a container with `TEST_CONTAINERS=on`, else the embedded one. The
 * tests create their own database there and migrate it; each test file gets a copy. No other database is changed.
 */
export default async function globalSetup(): Promise<void> {
  // Some tests stop and freeze Redis, which they cannot do in a container.
  if (process.env.CI === 'true' && !findRedisServer()) {
    throw new Error('With CI=true the queue must be tested on Redis too: install redis-server or valkey-server.');
  }
  if (!(await isPageBuilt())) await buildPage();
  if (!isServedClientPacked()) await packServedClient();
  const postgres = await getPostgres();
  const template = new URL(postgres.url);
  template.pathname = '/orders_test_template';
  const url = template.href;
  await ensureDatabase(url);
  const hasRoles = postgres.isOurs && process.env.TEST_ROLES !== 'off';
  const knex = openKnex({ url });
  try {
    await migrate(connectionOf(knex));
    await keepOrderRange(knex);
    await migrateQueue(url);
    // Hashed again, with the `scram_iterations` of the server.
    if (postgres.isOurs) await knex.raw(`alter role current_user password '${PASSWORD}'`);
    if (hasRoles) await createAppRoles(knex);
  } finally {
    await knex.destroy();
  }
  const redis = await getRedis();
  const pooler = process.env.TEST_POOLER === 'pgbouncer' ? await startPgBouncer(url) : null;
  if (pooler) {
    stops.push(() => pooler.close());
    process.env.TEST_POOLER_PORT = new URL(pooler.through(url)).port;
  }
  Object.assign(process.env, {
    TEST_DATABASE_URL: url,
    TEST_ROLES: hasRoles ? 'on' : 'off',
    TEST_DATABASE: pooler ? `${postgres.what} behind PgBouncer` : postgres.what,
    TEST_QUEUE_KINDS: redis ? 'redis,postgres' : 'postgres',
    TEST_QUEUES: redis ? `${redis.what} and postgres` : 'postgres',
    ...(redis?.url && { TEST_REDIS_URL: redis.url }),
  });
}

/** Postgres and every Redis that no test breaks run in containers only when that is asked for. */
const usesContainers = process.env.TEST_CONTAINERS === 'on';

/** @throws {Error} with what to do, as a container that cannot be started has many reasons. */
async function startContainer<T>(
  start: (containers: typeof import('../harness/containers.ts')) => Promise<T>,
): Promise<T> {
  try {
    return await start(await import('../harness/containers.ts'));
  } catch (error) {
    const reason = Error.isError(error) ? error.message : String(error);
    throw new Error(
      `With TEST_CONTAINERS=on Postgres and Redis run in containers, but none could be started: ${reason}`,
    );
  }
}

/** Where files are in memory: creating and dropping hundreds of databases on a disk takes a sixth of the time of a run. */
async function memoryDirectory(): Promise<string> {
  const { bavail, bsize } = await statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= 4 * 2 ** 30 ? '/dev/shm' : tmpdir();
}

/** `isOurs`: this run started the server. Only then the roles of the apps are created, as roles belong to a whole server. */
async function getPostgres(): Promise<{ url: string; what: string; isOurs: boolean }> {
  if (process.env.DATABASE_URL)
    return { url: process.env.DATABASE_URL, what: 'the Postgres of DATABASE_URL', isOurs: false };
  if (usesContainers) {
    const container = await startContainer(({ startPostgresContainer }) => startPostgresContainer(PASSWORD));
    stops.push(container.stop);
    return { url: container.url, what: 'Postgres in a container', isOurs: true };
  }
  const directory = await mkdtemp(join(await memoryDirectory(), 'orders-test-'));
  // If this process is root, Postgres runs as another user.
  await chmod(directory, 0o755);
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    password: PASSWORD,
    // A password check of the usual strength takes 16 ms, for each of the thousands of connections of a run.
    settings: ['fsync=off', 'full_page_writes=off', 'jit=off', 'scram_iterations=1'],
  });
  stops.push(async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return { url: postgres.url, what: 'embedded Postgres', isOurs: true };
}

/** Without `url`, each test file starts its own Redis, which it can break. With it, each test file uses a database of this Redis. */
async function getRedis(): Promise<{ what: string; url?: string } | null> {
  if (!usesContainers) return findRedisServer() ? { what: 'redis' } : null;
  const container = await startContainer(({ startRedisContainer }) => startRedisContainer('--databases', '10000'));
  stops.push(container.stop);
  return { what: 'redis in a container', url: container.url };
}

export async function endServices(): Promise<void> {
  for (const stop of stops.reverse()) await stop();
}
