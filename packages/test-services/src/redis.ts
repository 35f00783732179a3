import { accessSync, constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { type Child, startChild } from './child.ts';
import { freePort } from './ports.ts';
import { until } from './until.ts';

/** A Redis or Valkey on the loopback interface. */
export interface LocalRedis {
  url: string;
  port: number;
  /** The program, `redis-server` or `valkey-server`. */
  program: string;
  child: Child;
}

/** The Redis or Valkey server on the PATH, or null. */
export function findRedisServer(): string | null {
  return ['redis-server', 'valkey-server'].find((program) => findOnPath(program) !== null) ?? null;
}

/**
 * Starts the server on the PATH with an append-only file, so that it keeps jobs over a restart.
 *
 * @param options.settings further settings, as in its configuration file.
 * @throws {Error} with one line that says what is missing.
 */
export async function startRedis(options: {
  directory: string;
  port?: number;
  settings?: Record<string, string | number>;
}): Promise<LocalRedis> {
  const program = findRedisServer();
  if (!program) throw new Error('There is no redis-server or valkey-server on the PATH.');
  await mkdir(options.directory, { recursive: true });
  const port = options.port ?? (await freePort());
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: options.directory,
    appendonly: 'yes',
    save: '',
    'maxmemory-policy': 'noeviction',
    ...options.settings,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = await startChild(program, args);
  await until(`Redis is ready on port ${port}`, () => {
    if (!child.isRunning) throw new Error(`Redis did not start on port ${port}.`);
    return isReady(port);
  });
  return { url: `redis://127.0.0.1:${port}`, port, program, child };
}

/** True once it replies PONG or asks for a password; while loading its data it replies with an error. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (data) => {
      resolve(/^(\+PONG|-NOAUTH)/.test(data.toString()));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}

/** The path of an executable on the PATH, or null. */
export function findOnPath(program: string): string | null {
  const paths = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, program));
  return paths.find(canRun) ?? null;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
