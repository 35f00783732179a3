import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseEnvironment, type Child, freePort, startChild } from '@orders/test-services';
import type { Contestant } from './contestants.ts';
import type { Services } from './services.ts';

/** A running contestant. */
export interface Running {
  /** The URL for orders. */
  url: string;
  apiKeys: string[];
  accountIds: number[];
  intake: Child;
  workers: Child[];
  /** Resolves with a message if one of its processes exits unexpectedly. */
  died: Promise<string>;
  stop(): Promise<void>;
}

const START_MS = 20_000;

/**
 * Starts the processes of a contestant on an empty database, or on one prepared for it. Their output goes to files.
 *
 * @param options `profileTo` is a directory for CPU profiles; `env` is added to the environment of each process.
 */
export async function startContestant(
  contestant: Contestant,
  services: Services,
  databaseUrl: string,
  options: { workers: number; profileTo?: string | undefined; env?: Record<string, string> },
): Promise<Running> {
  const { env, apiKeys, accountIds } = await contestant.prepare(databaseUrl, services.redisUrl);
  const port = await freePort();
  const children: Child[] = [];
  let stopping = false;
  const deaths: Promise<string>[] = [];

  async function start(role: string, program: string): Promise<Child> {
    const log = await open(join(services.directory, `${contestant.name}-${role}.log`), 'w');
    const profiling = options.profileTo ? ['--cpu-prof', `--cpu-prof-dir=${options.profileTo}`] : [];
    const child = await startChild(process.execPath, [...profiling, program], {
      env: { ...baseEnvironment(), NODE_ENV: 'production', ...env, ...options.env, PORT: String(port) },
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    children.push(child);
    deaths.push(
      child.exited.then(() =>
        stopping ? new Promise<never>(() => {}) : `${contestant.name}: its ${role} exited unexpectedly`,
      ),
    );
    return child;
  }

  async function stop(): Promise<void> {
    stopping = true;
    await Promise.all(children.map((child) => child.stop()));
  }

  try {
    const intake = await start('intake', contestant.intake);
    const workers: Child[] = [];
    for (let number = 1; contestant.worker && number <= options.workers; number += 1) {
      workers.push(await start(`worker-${number}`, contestant.worker));
    }
    const died = Promise.race(deaths);
    await Promise.race([untilListening(port), died.then((what) => Promise.reject(new Error(what)))]);
    return { url: `http://127.0.0.1:${port}/ingest/orders`, apiKeys, accountIds, intake, workers, died, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @throws {Error} if nothing listens within 20 seconds. */
export async function untilListening(port: number): Promise<void> {
  for (const started = Date.now(); Date.now() - started < START_MS; await sleep(50)) {
    const socket = connect(port, '127.0.0.1');
    const listens = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (listens) return;
  }
  throw new Error(`nothing listens on port ${port} after ${START_MS / 1000} seconds`);
}
