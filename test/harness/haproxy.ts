import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { closeAtEnd } from './close-at-end.ts';
import { readShippedConfig } from './shipped-config.ts';

/** Interval of the readiness checks; after two failures the intake gets no requests. */
const CHECK_MS = 300;

/** A drain delay that is longer than haproxy takes to notice that an intake drains, even on a slow machine. */
export const SAFE_DRAIN_DELAY = '2500ms';

/** An intake, by its name in `deploy/haproxy/haproxy.cfg`. */
export type Server = 'intake1' | 'intake2';

/** The ports of an intake; it keeps them when it restarts. */
export interface IntakePorts {
  port: number;
  adminPort: number;
}

/** The haproxy of `deploy/haproxy` in front of two intakes. It does not retry requests, as that would hide failures. */
export interface Haproxy {
  /** Balances requests, as deployed. */
  url: string;
  /** Balances connections and not requests, as a Kubernetes service does. */
  connectionsUrl: string;
  ports: Record<Server, IntakePorts>;
  /** Waits until new requests and connections are sent to this intake. */
  untilUp(server: Server): Promise<void>;
  /** Number of requests sent to the intakes since the start. */
  forwarded(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Starts haproxy on free ports of the loopback interface, which needs no privileges.
 *
 * @param options.connectionsByAddress max connections per client address; the total limit is 200.
 */
export async function startHaproxy({ connectionsByAddress = 500 } = {}): Promise<Haproxy> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  const socket = join(directory, 'admin.sock');
  const [port, connectionsPort, observePort] = [await freePort(), await freePort(), await freePort()];
  const ports = { intake1: await freePorts(), intake2: await freePorts() };
  const shipped = await readShippedConfig('haproxy/haproxy.cfg', {
    '/run/haproxy/admin.sock': socket,
    'maxconn 8000': 'maxconn 200',
    'sc0_conn_cur gt 500': `sc0_conn_cur gt ${connectionsByAddress}`,
    '127.0.0.1:8080': `127.0.0.1:${port}`,
    '127.0.0.1:8404': `127.0.0.1:${observePort}`,
    '127.0.0.1:8091 port 9091': address(ports.intake1),
    '127.0.0.1:8092 port 9092': address(ports.intake2),
    'inter 1s fastinter 500ms': `inter ${CHECK_MS}ms`,
    // A slow machine does not reach it.
    'timeout http-request 30s': 'timeout http-request 10m',
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
  // Reports errors of the configuration.
  await promisify(execFile)('haproxy', ['-c', '-f', file]);
  const child = await startChild('haproxy', ['-db', '-f', file], { stdio: 'ignore' });

  /** @returns the output of a command of the admin socket. */
  async function runCommand(command: string): Promise<string> {
    const connection = connect(socket);
    connection.write(`${command}\n`);
    return text(connection);
  }
  await until('haproxy accepts commands', () => runCommand('show info').catch(() => false));

  return closeAtEnd<Haproxy>({
    url: `http://127.0.0.1:${port}`,
    connectionsUrl: `http://127.0.0.1:${connectionsPort}`,
    ports,
    async untilUp(server) {
      const isUp = new RegExp(`^intakes(_by_connection)?,${server},(?:[^,]*,){15}UP`, 'gm');
      await until(`${server} is up`, async () => (await runCommand('show stat')).match(isUp)?.length === 2);
    },
    async forwarded() {
      const [, total] = /^intakes,BACKEND,(?:[^,]*,){5}(\d+),/m.exec(await runCommand('show stat')) ?? [];
      return Number(total);
    },
    async close() {
      await child.stop();
      await rm(directory, { recursive: true, force: true });
    },
  });
}

async function freePorts(): Promise<IntakePorts> {
  return { port: await freePort(), adminPort: await freePort() };
}

const address = ({ port, adminPort }: IntakePorts) => `127.0.0.1:${port} port ${adminPort}`;
