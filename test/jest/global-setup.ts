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
 * Provides one Postgres for the whole run: that of DATABASE_URL, else one in a container if Docker is available, else the embedded one. The
 * tests create their own database there and migrate it; each test file gets a copy. No other database is changed.
 */
export default async function globalSetup(): Promise<void> {
  // Some tests stop and freeze Redis, which they cannot do in a container.
  if (process.env.CI === 'true' && !findRedisServer()) {
    throw new Error('With CI=true the queue must be tested on Redis too: install redis-server or valkey-server.');
  }
  if (mustUseContainers() && !(await hasDocker())) {
    throw new Error('With TEST_CONTAINERS=on Postgres and Redis run in containers, but Docker is not available.');
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

/** Builds the portal's page like `npm start`, unless the last build is newer than its sources. */
async function buildPage(): Promise<void> {
  const built = await changedAt(join(PAGE, 'dist/index.html'));
  const sources = (await readdir(PAGE, { recursive: true })).filter((path) => !path.startsWith('dist'));
  const changes = [...sources.map((path) => join(PAGE, path)), join(ROOT, 'pnpm-lock.yaml')].map(changedAt);
  if (Math.max(...(await Promise.all(changes))) < built) return;
  // With Jest's NODE_ENV it would be a development build.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT, env });
}

/** When a file was last changed, in milliseconds; 0 if it does not exist. */
const changedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/** With TEST_CONTAINERS=on, Postgres and every Redis that no test breaks run in containers. */
const mustUseContainers = () => process.env.TEST_CONTAINERS === 'on';

/** With TEST_CONTAINERS=off, no container is started. */
async function mayUseContainers(): Promise<boolean> {
  return process.env.TEST_CONTAINERS !== 'off' && (await hasDocker());
}

/** `isOurs`: this run started the server. Only then the roles of the apps are created, as roles belong to a whole server. */
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
  // If this process is root, Postgres runs as another user.
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

/** Without `url`, each test file starts its own Redis, which it can break. With it, each test file uses a database of this Redis. */
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
