import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { chown, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Child, startChild } from './child.ts';
import type { Machine } from './machines.ts';
import { freePort } from './ports.ts';
import { runAsUnprivileged } from './postgres.ts';
import { findOnPath } from './redis.ts';
import { until } from './until.ts';

const SHIPPED = resolve(import.meta.dirname, '../../../deploy/high-availability');
/** Where Debian has Postgres; Patroni supports no newer one than itself. */
const PROGRAMS = '/usr/lib/postgresql/15/bin';
const NEEDED = ['patroni', 'etcd', 'haproxy', 'ip'];

/** Three machines with Postgres under Patroni and etcd, as in deploy/high-availability, behind an HAProxy on this one. */
export interface PostgresCluster {
  /** The URL of the database `orders` on the primary, by HAProxy. */
  url: string;
  machines: readonly Machine[];
  /** The machine of the primary now; null while there is none, or none that replies. */
  primary(): Promise<Machine | null>;
  /** Starts what runs on a machine, as at its boot. */
  boot(machine: Machine): Promise<void>;
  /** Waits until there is a primary with two synchronous standbys. */
  untilWhole(): Promise<void>;
  close(): Promise<void>;
}

/** What is missing for a cluster on this machine; null if nothing is. */
export function whyNoCluster(): string | null {
  const missing = NEEDED.filter((program) => findOnPath(program) === null);
  return missing.length > 0 ? `it needs ${missing.join(', ')} on the PATH` : null;
}

/** Of Patroni. */
const REPLY_MS = 2000;

interface Member {
  name: string;
  role: string;
  state: string;
}

/**
 * @param options.directory for all data, on a disk that is fast enough for three. `logs`: a directory for the output of its programs.
 * @throws {Error} if it does not become whole.
 */
export async function startPostgresCluster(options: {
  directory: string;
  logs: string;
  machines: readonly Machine[];
}): Promise<PostgresCluster> {
  const { directory, logs, machines } = options;
  const password = randomBytes(12).toString('hex');
  const as = runAsUnprivileged([PROGRAMS, directory]);
  const initial = machines.map(({ address }, index) => `node${index + 1}=http://${address}:2380`).join();

  async function own(path: string): Promise<string> {
    if (as.owner) await chown(path, as.owner.uid, as.owner.gid);
    return path;
  }

  async function start(machine: Machine, command: string, ...args: string[]): Promise<Child> {
    const { uid, gid } = as.owner ?? {};
    const user = as.owner ? ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'] : [];
    const [program = '', ...rest] = [...user, command, ...args];
    const log = openSync(join(logs, `${command}-${machines.indexOf(machine) + 1}.log`), 'a');
    try {
      return await machine.start(program, rest, {
        stdio: ['ignore', log, log],
        cwd: directory,
        env: { PATH: process.env.PATH, HOME: directory },
      });
    } finally {
      closeSync(log);
    }
  }

  async function boot(machine: Machine): Promise<void> {
    const index = machines.indexOf(machine);
    const name = `node${index + 1}`;
    const at = (port: number) => `http://${machine.address}:${port}`;
    const data = join(directory, `etcd-${name}`);
    const etcd = {
      name,
      'data-dir': data,
      'listen-peer-urls': at(2380),
      'initial-advertise-peer-urls': at(2380),
      'listen-client-urls': at(2379),
      'advertise-client-urls': at(2379),
      'initial-cluster': initial,
      'log-level': 'error',
      // The machines share two processors.
      'heartbeat-interval': '300',
      'election-timeout': '3000',
    };
    await start(machine, 'etcd', ...Object.entries(etcd).map(([option, value]) => `--${option}=${value}`));
    await start(machine, 'patroni', join(directory, `${name}.yml`));
  }

  await own(directory);
  for (const [index, { address }] of machines.entries()) {
    const name = `node${index + 1}`;
    const shipped = await readFile(join(SHIPPED, 'patroni.yml'), 'utf8');
    const config = shipped
      .replace('name: node1', `name: ${name}`)
      .replaceAll(/10\.0\.0\.11(?=:(?:8008|5432))/g, address)
      .replace(/(?<=hosts: ).*/, machines.map((machine) => `${machine.address}:2379`).join())
      .replace('/var/lib/postgresql/orders', join(directory, name))
      .replace('/var/lib/postgresql/.pgpass-patroni', join(directory, `.pgpass-${name}`))
      .replaceAll('replace-me', password)
      .replace('username: postgres', 'username: orders')
      .replace('  authentication:', "  parameters: { unix_socket_directories: '' }\n  authentication:")
      .replace('mode: automatic', 'mode: off');
    await writeFile(join(directory, `${name}.yml`), config, { mode: 0o600 });
    await own(join(directory, `${name}.yml`));
  }
  const port = await freePort();
  const balancer = await readFile(join(SHIPPED, 'haproxy.cfg'), 'utf8');
  const file = join(directory, 'haproxy.cfg');
  await writeFile(
    file,
    machines.reduce(
      (text, { address }, index) => text.replace(`10.0.0.1${index + 1}:`, `${address}:`),
      balancer.replace('bind 127.0.0.1:5432', `bind 127.0.0.1:${port}`),
    ),
  );

  /** The members as one machine sees them; null if it does not reply. */
  async function membersBy({ address }: Machine): Promise<Member[] | null> {
    try {
      const reply = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(REPLY_MS) });
      return ((await reply.json()) as { members: Member[] }).members;
    } catch {
      return null;
    }
  }

  async function isPrimary({ address }: Machine): Promise<boolean> {
    const url = `http://${address}:8008/primary`;
    const reply = await fetch(url, { signal: AbortSignal.timeout(REPLY_MS) }).catch(() => null);
    return reply?.status === 200;
  }

  for (const machine of machines) await boot(machine);
  const haproxy = await startChild('haproxy', ['-db', '-f', file]);

  async function untilWhole(): Promise<void> {
    await until(
      'the cluster has a primary and two synchronous standbys',
      async () => {
        for (const machine of machines) {
          const members = await membersBy(machine);
          if (!members) return false;
          const standbys = members.filter(({ role, state }) => role === 'sync_standby' && state !== 'stopped');
          if (standbys.length !== machines.length - 1) return false;
        }
        return true;
      },
      { seconds: 300, everyMs: 500 },
    );
  }

  const cluster: PostgresCluster = {
    url: `postgres://orders:${password}@127.0.0.1:${port}/orders`,
    machines,
    async primary() {
      const are = await Promise.all(machines.map(isPrimary));
      return machines[are.indexOf(true)] ?? null;
    },
    boot,
    untilWhole,
    async close() {
      await haproxy.stop('SIGKILL');
      for (const machine of machines) await machine.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    await untilWhole();
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
