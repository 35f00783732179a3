import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, freePortBelowEphemeral, runAsUnprivileged, startChild } from '@orders/local-services';
import pg from 'pg';
import { until } from './until.ts';

/** A real PgBouncer in transaction mode. */
export interface TestPooler {
  /** The address of a database through the pooler. */
  through(databaseUrl: string): string;
  /** What its console answers, such as to `show pools`. */
  ask(question: string): Promise<Record<string, unknown>[]>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
  /** Starts it again on its port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** The configuration of docs/operating.md, "Behind a pooler". */
function configuration(postgres: URL, port: number, directory: string, poolSize: number): string {
  const limits = "set statement_timeout = ''9s''; set idle_in_transaction_session_timeout = ''10s''; set jit = off";
  return `[databases]
* = host=${postgres.hostname} port=${postgres.port} connect_query='${limits}'

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(directory, 'userlist.txt')}
admin_users = ${postgres.username}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 1000
query_wait_timeout = 10
server_login_retry = 1
`;
}

/** @param databaseUrl any database of the Postgres behind it. */
export async function startPgBouncer(databaseUrl: string, { poolSize = 20 } = {}): Promise<TestPooler> {
  const postgres = new URL(databaseUrl);
  const directory = await mkdtemp(join(tmpdir(), 'orders-pgbouncer-'));
  const port = await freePortBelowEphemeral();
  const file = join(directory, 'pgbouncer.ini');
  const users = `"${postgres.username}" "${decodeURIComponent(postgres.password)}"\n`;
  await writeFile(file, configuration(postgres, port, directory, poolSize));
  await writeFile(join(directory, 'userlist.txt'), users, { mode: 0o600 });
  await chmod(directory, 0o755);
  // It refuses to run as root.
  const { owner, identity, prefix } = runAsUnprivileged([directory]);
  if (owner) await chown(join(directory, 'userlist.txt'), owner.uid, owner.gid);

  function through(url: string): string {
    const address = new URL(url);
    address.hostname = '127.0.0.1';
    address.port = String(port);
    return address.href;
  }

  async function ask(question: string): Promise<Record<string, unknown>[]> {
    const console = new URL(through(databaseUrl));
    console.pathname = '/pgbouncer';
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
    await until('PgBouncer answers', () => ask('show version').catch(() => null));
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
