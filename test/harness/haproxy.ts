import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { freePortBelowEphemeral, startChild } from '@orders/test-services';
import { readShippedConfig } from './shipped-config.ts';
import { until } from './until.ts';

/** How often it asks whether an intake is ready; two refusals take that out. */
const CHECK_MS = 300;

/** Longer than it takes to notice that an intake drains, also where both are slow. */
export const LONG_ENOUGH = '2500ms';

/** An intake, by its name in `deploy/haproxy/haproxy.cfg`. */
export type Server = 'intake1' | 'intake2';

/** Where an intake listens; the same over its restarts. */
export interface Place {
  port: number;
  adminPort: number;
}

/** The haproxy of `deploy/haproxy` before two intakes. It sends nothing twice, which would hide a failure. */
export interface Haproxy {
  /** Balances requests, as deployed. */
  url: string;
  /** Balances connections and knows nothing of requests, as a Kubernetes service does. */
  connectionsUrl: string;
  places: Record<Server, Place>;
  /** Resolves once new requests and connections are sent to this intake. */
  untilUp(server: Server): Promise<void>;
  /** By the operator's command, sends this intake no new requests, and resolves once none is under way. */
  drain(server: Server): Promise<void>;
  /** Requests that it has sent to the intakes since it started. */
  forwarded(): Promise<number>;
  /** Ends `drain`. */
  undrain(server: Server): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts it as a process of its own, on free ports of the loopback; that needs no privilege.
 *
 * @param options.connectionsByAddress how many one address may open; 200 fit in all.
 */
export async function startHaproxy({ connectionsByAddress = 500 } = {}): Promise<Haproxy> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  const socket = join(directory, 'admin.sock');
  const [port, connectionsPort, observePort] = [await freePort(), await freePort(), await freePort()];
  const places = { intake1: await place(), intake2: await place() };
  const shipped = await readShippedConfig('haproxy/haproxy.cfg', {
    '/run/haproxy/admin.sock': socket,
    'maxconn 8000': 'maxconn 200',
    'sc0_conn_cur gt 500': `sc0_conn_cur gt ${connectionsByAddress}`,
    '127.0.0.1:8080': `127.0.0.1:${port}`,
    '127.0.0.1:8404': `127.0.0.1:${observePort}`,
    '127.0.0.1:8091 port 9091': address(places.intake1),
    '127.0.0.1:8092 port 9092': address(places.intake2),
    'inter 1s fastinter 500ms': `inter ${CHECK_MS}ms`,
  });
  const [, backend = ''] = shipped.split(/^backend intakes$/m);
  const byConnection = `
frontend connections
  mode tcp
  bind 127.0.0.1:${connectionsPort}
  default_backend intakes_by_connection

backend intakes_by_connection
  mode tcp${backend.split(/^frontend/m)[0]}`;
  await writeFile(file, `${shipped}${byConnection}`);
  // What is wrong with the file is said now.
  await promisify(execFile)('haproxy', ['-c', '-f', file]);
  const child = await startChild('haproxy', ['-db', '-f', file], { stdio: 'ignore' });

  /** @returns what it answers to a command. */
  async function tell(command: string): Promise<string> {
    const connection = connect(socket);
    connection.write(`${command}\n`);
    return text(connection);
  }
  async function setState(server: Server, state: 'ready' | 'drain'): Promise<void> {
    for (const name of ['intakes', 'intakes_by_connection']) await tell(`set server ${name}/${server} state ${state}`);
  }
  await until('haproxy takes commands', () => tell('show info').catch(() => false));

  return {
    url: `http://127.0.0.1:${port}`,
    connectionsUrl: `http://127.0.0.1:${connectionsPort}`,
    places,
    async untilUp(server) {
      const isUp = new RegExp(`^intakes(_by_connection)?,${server},(?:[^,]*,){15}UP`, 'gm');
      await until(`${server} is up`, async () => (await tell('show stat')).match(isUp)?.length === 2);
    },
    async drain(server) {
      await setState(server, 'drain');
      const isQuiet = new RegExp(`^intakes,${server},0,\\d+,0,`, 'm');
      await until(`${server} is quiet`, async () => isQuiet.test(await tell('show stat')));
    },
    async forwarded() {
      const [, total] = /^intakes,BACKEND,(?:[^,]*,){5}(\d+),/m.exec(await tell('show stat')) ?? [];
      return Number(total);
    },
    undrain: (server) => setState(server, 'ready'),
    async close() {
      await child.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const freePort = freePortBelowEphemeral;

async function place(): Promise<Place> {
  return { port: await freePort(), adminPort: await freePort() };
}

const address = ({ port, adminPort }: Place) => `127.0.0.1:${port} port ${adminPort}`;
