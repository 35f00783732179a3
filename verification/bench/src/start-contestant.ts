import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseEnvironment, type Child, startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import type { Contestant } from './contestants.ts';
import type { Services } from './services.ts';

/** A running contestant. */
export interface Running {
  /** The URL for orders. */
  url: string;
  apiKeys: string[];
  accountIds: number[];
  intake: Child;
  /** Further intakes, of a contestant with several. */
  otherIntakes: { child: Child; url: string }[];
  workers: Child[];
  /** Resolves with a message if one of its processes exits unexpectedly. */
  died: Promise<string>;
  stop(): Promise<void>;
}

/** Generous: two cores may start six processes at once, under load. */
const START_MS = 120_000;

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
  const children: Child[] = [];
  let stopping = false;
  const deaths: Promise<string>[] = [];

  async function start(role: string, program: string, port = 0): Promise<Child> {
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

  /** Resolves when it listens. */
  async function startIntake(number: number): Promise<{ child: Child; url: string }> {
    const port = await freePort();
    const child = await start(`intake-${number}`, contestant.intake, port);
    const died = Promise.race(deaths).then((what) => Promise.reject(new Error(what)));
    await Promise.race([untilListening(port), died]);
    return { child, url: `http://127.0.0.1:${port}/ingest/orders` };
  }

  async function stop(): Promise<void> {
    stopping = true;
    await Promise.all(children.map((child) => child.stop()));
  }

  try {
    const { child: intake, url } = await startIntake(1);
    const otherIntakes: Running['otherIntakes'] = [];
    for (let number = 2; number <= (contestant.replicas ?? 1); number += 1) {
      otherIntakes.push(await startIntake(number));
    }
    const workers: Child[] = [];
    for (let number = 1; contestant.worker && number <= options.workers; number += 1) {
      workers.push(await start(`worker-${number}`, contestant.worker));
    }
    return { url, apiKeys, accountIds, intake, otherIntakes, workers, died: Promise.race(deaths), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @throws {Error} if nothing listens within two minutes. */
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
