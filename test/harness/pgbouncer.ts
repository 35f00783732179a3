import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { runAsUnprivileged } from '@orders/test-services/postgres.ts';
import { until } from '@orders/test-services/until.ts';
import pg from 'pg';
import { POOLER_USERS } from './database.ts';
import { readShippedConfig } from './shipped-config.ts';

/** A real PgBouncer in transaction mode, configured as in `deploy/pgbouncer`. */
export interface TestPooler {
  /** The URL of a database through the pooler. */
  through(databaseUrl: string): string;
  /** Runs a command of its console, such as `show pools`, by default as its admin. */
  ask(question: string, as?: { username: string; password: string }): Promise<Record<string, unknown>[]>;
  /** Kills it, as a power cut would. */
  kill(): Promise<void>;
  /** Restarts it on the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Name and password of its admin; the name is that of the shipped configuration. */
const ADMIN = 'pgbouncer_admin';

/** @param databaseUrl any database of the Postgres behind it. */
export async function startPgBouncer(databaseUrl: string, { poolSize = 20 } = {}): Promise<TestPooler> {
  const postgres = new URL(databaseUrl);
  const directory = await mkdtemp(join(tmpdir(), 'orders-pgbouncer-'));
  const port = await freePort();
  const file = join(directory, 'pgbouncer.ini');
  const users = `"${postgres.username}" "${decodeURIComponent(postgres.password)}"\n${POOLER_USERS}"${ADMIN}" "${ADMIN}"\n`;
  const config = await readShippedConfig('pgbouncer/pgbouncer.ini', {
    'host=10.0.0.5 port=5432': `host=${postgres.hostname} port=${postgres.port}`,
    'listen_port = 6432': `listen_port = ${port}`,
    '/etc/pgbouncer/userlist.txt': join(directory, 'userlist.txt'),
    'default_pool_size = 20': `default_pool_size = ${poolSize}`,
  });
  await writeFile(file, config);
  await writeFile(join(directory, 'userlist.txt'), users, { mode: 0o600 });
  await chmod(directory, 0o755);
  // PgBouncer refuses to run as root.
  const { owner, identity, prefix } = runAsUnprivileged([directory]);
  if (owner) await chown(join(directory, 'userlist.txt'), owner.uid, owner.gid);

  function through(url: string): string {
    const address = new URL(url);
    address.hostname = '127.0.0.1';
    address.port = String(port);
    return address.href;
  }

  async function ask(question: string, as = { username: ADMIN, password: ADMIN }): Promise<Record<string, unknown>[]> {
    const console = Object.assign(new URL(through(databaseUrl)), { ...as, pathname: '/pgbouncer' });
    const client = new pg.Client({ connectionString: console.href });
    await client.connect();
    try {
      return (await client.query(question)).rows;
    } finally {
      await client.end();
    }
  }

  let child: Child;
  async function start(): Promise<void> {
    const [command, ...args] = [...prefix, 'pgbouncer', file] as string[] as [string, ...string[]];
    child = await startChild(command, args, identity);
    await until('PgBouncer replies', () => ask('show version').catch(() => null));
  }
  await start();

  return {
    through,
    ask,
    start,
    kill: () => child.stop('SIGKILL'),
    async close() {
      await child.stop('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
