import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { migrate, openKnex } from '@orders/database';
import { migrateQueue } from '@orders/queue';
import {
  ensureDatabase,
  findRedisServer,
  hasDocker,
  startPostgres,
  startPostgresContainer,
  startRedisContainer,
} from '@orders/test-services';
import { startPgBouncer } from '../harness/pgbouncer.ts';
import { createAppRoles } from '../harness/roles.ts';

const stops: (() => Promise<void>)[] = [];

/**
 * One Postgres for the whole run: that of DATABASE_URL, one in a container where a Docker engine answers, else the embedded one. A
 * database of the tests' own is migrated there and serves as the template of each test file's; no other is touched.
 */
export default async function globalSetup(): Promise<void> {
  // In a container it could not be stopped and frozen as some tests do.
  if (process.env.CI === 'true' && !findRedisServer()) {
    throw new Error('With CI=true the queue must be tested on Redis too: install redis-server or valkey-server.');
  }
  if (mustUseContainers() && !(await hasDocker())) {
    throw new Error('With TEST_CONTAINERS=on Postgres and Redis come from containers, but no Docker engine answers.');
  }
  await buildPage();
  const postgres = await getPostgres();
  const template = new URL(postgres.url);
  template.pathname = '/orders_test_template';
  const url = template.href;
  await ensureDatabase(url);
  const hasRoles = postgres.isOurs && process.env.TEST_ROLES !== 'off';
  const knex = openKnex({ url });
  try {
    await migrate(knex);
    await migrateQueue(url);
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

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'apps/portal/page');

/** Builds the portal's page as `npm start` does, unless the last build is newer than its sources. */
async function buildPage(): Promise<void> {
  const built = await changedAt(join(PAGE, 'dist/index.html'));
  const sources = (await readdir(PAGE, { recursive: true })).filter((path) => !path.startsWith('dist'));
  const changes = [...sources.map((path) => join(PAGE, path)), join(ROOT, 'pnpm-lock.yaml')].map(changedAt);
  if (Math.max(...(await Promise.all(changes))) < built) return;
  // With Jest's own NODE_ENV it would be a build for development.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT, env });
}

/** In milliseconds; 0 where there is no such file. */
const changedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/** With TEST_CONTAINERS=on Postgres and every Redis that is not to be broken come from containers. */
const mustUseContainers = () => process.env.TEST_CONTAINERS === 'on';

/** With TEST_CONTAINERS=off no container is started, whether a Docker engine answers or not. */
async function mayUseContainers(): Promise<boolean> {
  return process.env.TEST_CONTAINERS !== 'off' && (await hasDocker());
}

/** Only a server that this run started gets the roles of the apps: they are of the whole server. */
async function getPostgres(): Promise<{ url: string; what: string; isOurs: boolean }> {
  if (process.env.DATABASE_URL)
    return { url: process.env.DATABASE_URL, what: 'the Postgres of DATABASE_URL', isOurs: false };
  if (await mayUseContainers()) {
    const starting = startPostgresContainer('test');
    const container = await (mustUseContainers() ? starting : starting.catch(() => null));
    if (container) {
      stops.push(container.stop);
      return { url: container.url, what: 'Postgres in a container', isOurs: true };
    }
  }
  const directory = await mkdtemp(join(tmpdir(), 'orders-test-'));
  // Postgres runs as another user where this runs as root.
  await chmod(directory, 0o755);
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    password: 'test',
    settings: ['fsync=off'],
  });
  stops.push(async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return { url: postgres.url, what: 'embedded Postgres', isOurs: true };
}

/** Without an address: each test file starts a server of its own, which it can break. With one: each takes a database of it. */
async function getRedis(): Promise<{ what: string; url?: string } | null> {
  if (!mustUseContainers() && findRedisServer()) return { what: 'redis' };
  if (!(await mayUseContainers())) return null;
  const container = await startRedisContainer('--databases', '10000');
  stops.push(container.stop);
  return { what: 'redis in a container', url: container.url };
}

export async function endServices(): Promise<void> {
  for (const stop of stops.reverse()) await stop();
}
