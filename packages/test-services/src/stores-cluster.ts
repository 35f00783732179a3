import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { startChild } from './child.ts';
import type { Machine } from './machines.ts';
import { freePort } from './ports.ts';
import { runAsUnprivileged } from './postgres.ts';
import { findOnPath } from './redis.ts';
import { until } from './until.ts';

const SHIPPED = resolve(import.meta.dirname, '../../../deploy/high-availability');
/** Where Debian has Postgres; Patroni supports none that is newer than itself. */
const PROGRAMS = '/usr/lib/postgresql/15/bin';
const NEEDED = ['patroni', 'etcd', 'haproxy', 'ip', 'redis-server'];
/** States of a standby that follows, by Patroni before and from 3.1. */
const UP = ['running', 'streaming'];
/** Of Patroni and of a Redis. */
const REPLY_MS = 2000;

/** Three machines with Postgres under Patroni and Redis under Sentinel, as in deploy/high-availability, and an HAProxy on this one. */
export interface StoresCluster {
  /** The URL of the database `orders` on the primary, by HAProxy. */
  databaseUrl: string;
  queueUrl: string;
  machines: readonly Machine[];
  /** The machine of a primary now; null while there is none, or none that replies. */
  primaryOf(store: 'postgres' | 'redis'): Promise<Machine | null>;
  /** Starts what runs on a machine, as at its boot. */
  boot(machine: Machine): Promise<void>;
  /** Waits until each store has a primary and two standbys, at least one of Postgres a synchronous one. */
  untilWhole(): Promise<void>;
  close(): Promise<void>;
}

/** What is missing for a cluster on this machine; null if nothing is. */
export function whyNoCluster(): string | null {
  const missing = NEEDED.filter((program) => findOnPath(program) === null);
  return missing.length > 0 ? `it needs ${missing.join(', ')} on the PATH` : null;
}

/**
 * @param options.directory for all data, on a disk that is fast enough for three. `logs`: a directory for the output of the programs.
 * @throws {Error} if it does not become whole.
 */
export async function startStoresCluster(options: {
  directory: string;
  logs: string;
  machines: readonly Machine[];
}): Promise<StoresCluster> {
  const { directory, logs, machines } = options;
  const password = randomBytes(12).toString('hex');
  const as = runAsUnprivileged([PROGRAMS, directory]);
  const addresses = machines.map(({ address }) => address);
  const nameOf = (machine: Machine) => `node${machines.indexOf(machine) + 1}`;
  const placeOf = (machine: Machine) => join(directory, nameOf(machine));

  /** A shipped file, with the addresses and the password of this cluster. */
  async function shipped(name: string): Promise<string> {
    const text = await readFile(join(SHIPPED, name), 'utf8');
    return text
      .replaceAll('replace-me', password)
      .replaceAll(/10\.0\.0\.1(\d)/g, (_, number) => addresses[number - 1] ?? '');
  }

  async function own(path: string): Promise<void> {
    if (as.owner) await chown(path, as.owner.uid, as.owner.gid);
  }

  async function write(path: string, text: string): Promise<void> {
    await writeFile(path, text, { mode: 0o600 });
    await own(path);
  }

  /** Writes the settings of a machine. */
  async function install(machine: Machine): Promise<void> {
    const [place, own1] = [placeOf(machine), addresses[0] ?? ''];
    const here = (text: string, pattern: RegExp) => text.replaceAll(pattern, machine.address);
    await mkdir(place);
    await own(place);
    const patroni = here(await shipped('patroni.yml'), new RegExp(`${own1}(?=:(?:8008|5432))`, 'g'))
      .replace('name: node1', `name: ${nameOf(machine)}`)
      .replace('/var/lib/postgresql/orders', join(place, 'postgres'))
      .replace('/var/lib/postgresql/.pgpass-patroni', join(place, '.pgpass'))
      .replace('username: postgres', 'username: orders')
      .replace('  authentication:', "  parameters: { unix_socket_directories: '' }\n  authentication:")
      .replace('mode: automatic', 'mode: off');
    await write(join(place, 'patroni.yml'), patroni);
    const bind = new RegExp(`(?<=^bind )${own1}`, 'gm');
    const replica = machine === machines[0] ? '' : `replicaof ${own1} 6379\n`;
    await write(join(place, 'redis.conf'), `${here(await shipped('redis.conf'), bind)}dir ${place}\n${replica}`);
    await write(join(place, 'sentinel.conf'), `${here(await shipped('sentinel.conf'), bind)}dir ${place}\n`);
  }

  async function start(machine: Machine, command: string, ...args: string[]): Promise<void> {
    const user = as.owner ? ['setpriv', `--reuid=${as.owner.uid}`, `--regid=${as.owner.gid}`, '--clear-groups'] : [];
    const [program = '', ...rest] = [...user, command, ...args];
    const log = openSync(
      join(logs, `${nameOf(machine)}-${args.includes('--sentinel') ? 'sentinel' : command}.log`),
      'a',
    );
    try {
      const env = { PATH: process.env.PATH, HOME: directory };
      await machine.start(program, rest, { stdio: ['ignore', log, log], cwd: placeOf(machine), env });
    } finally {
      closeSync(log);
    }
  }

  async function boot(machine: Machine): Promise<void> {
    const at = (port: number) => `http://${machine.address}:${port}`;
    const etcd = {
      name: nameOf(machine),
      'data-dir': join(placeOf(machine), 'etcd'),
      'listen-peer-urls': at(2380),
      'initial-advertise-peer-urls': at(2380),
      'listen-client-urls': at(2379),
      'advertise-client-urls': at(2379),
      'initial-cluster': machines.map((each) => `${nameOf(each)}=http://${each.address}:2380`).join(),
      'enable-v2': 'true',
      'pre-vote': 'true',
      'log-level': 'error',
      // The machines share the processors of this one.
      'heartbeat-interval': '300',
      'election-timeout': '3000',
    };
    await start(machine, 'etcd', ...Object.entries(etcd).map(([option, value]) => `--${option}=${value}`));
    await start(machine, 'patroni', 'patroni.yml');
    await start(machine, 'redis-server', 'redis.conf');
    await start(machine, 'redis-server', 'sentinel.conf', '--sentinel');
  }

  await own(directory);
  for (const machine of machines) await install(machine);
  for (const machine of machines) await boot(machine);
  const port = await freePort();
  const balancer = (await shipped('haproxy.cfg')).replace('bind 127.0.0.1:5432', `bind 127.0.0.1:${port}`);
  await write(join(directory, 'haproxy.cfg'), balancer);
  const haproxy = await startChild('haproxy', ['-db', '-f', join(directory, 'haproxy.cfg')]);

  const cluster: StoresCluster = {
    databaseUrl: `postgres://orders:${password}@127.0.0.1:${port}/orders`,
    queueUrl: `redis-sentinel://default:${password}@${addresses}/orders`,
    machines,
    async primaryOf(store) {
      const isPrimary =
        store === 'postgres' ? isPostgresPrimary : (machine: Machine) => isRedisPrimary(machine, password);
      const are = await Promise.all(machines.map(isPrimary));
      return machines[are.indexOf(true)] ?? null;
    },
    boot,
    async untilWhole() {
      await until(
        'Postgres and Redis have a primary and two standbys',
        async () => {
          const are = await Promise.all(machines.map((machine) => isWhole(machine, password)));
          return are.every(Boolean) && (await cluster.primaryOf('redis')) !== null;
        },
        { seconds: 300, everyMs: 500 },
      );
    },
    async close() {
      await haproxy.stop('SIGKILL');
      for (const machine of machines) await machine.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    await cluster.untilWhole();
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

async function isPostgresPrimary({ address }: Machine): Promise<boolean> {
  const signal = AbortSignal.timeout(REPLY_MS);
  return fetch(`http://${address}:8008/primary`, { signal }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Whether all standbys are there, as this machine sees it. */
async function isWhole({ address }: Machine, password: string): Promise<boolean> {
  try {
    const reply = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(REPLY_MS) });
    const { members } = (await reply.json()) as { members: { role: string; state: string }[] };
    const standbys = members.filter(({ role, state }) => role !== 'leader' && UP.includes(state));
    const areSynchronous = standbys.every(({ role }) => role === 'sync_standby');
    const replication = await askRedis(address, password);
    const follows = /role:slave.*master_link_status:up/s.test(replication);
    const leads = /role:master.*connected_slaves:2/s.test(replication);
    return areSynchronous && standbys.length === 2 && (follows || leads);
  } catch {
    return false;
  }
}

/** @returns `INFO replication` of the Redis on a machine. @throws when it does not reply. */
async function askRedis(address: string, password: string): Promise<string> {
  const socket = connect(6379, address);
  socket.setTimeout(REPLY_MS, () => socket.destroy(new Error('no reply')));
  socket.write(`AUTH ${password}\r\nINFO replication\r\nQUIT\r\n`);
  return text(socket);
}

const isRedisPrimary = ({ address }: Machine, password: string) =>
  askRedis(address, password).then(
    (replication) => /role:master.*connected_slaves:2/s.test(replication),
    () => false,
  );
