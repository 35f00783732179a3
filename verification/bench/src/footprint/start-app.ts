import { open, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseEnvironment, type Child, startChild } from '@orders/test-services/child.ts';
import { usageOf } from '../measure/processes.ts';

/** A ready process and the cost of its start. */
export interface ReadyApp {
  child: Child;
  /** From the start of the process. */
  readyMs: number;
  cpuSeconds: number;
}

const POLL_INTERVAL_MS = 3;
const START_MS = 30_000;

/**
 * Starts an app and waits until its admin port answers that it is ready.
 *
 * @throws {Error} if it exits, or is not ready within 30 seconds.
 */
export async function startApp(main: string, env: Record<string, string>, logFile: string): Promise<ReadyApp> {
  const log = await open(logFile, 'w');
  // The image has no compile cache.
  const { NODE_COMPILE_CACHE: _, ...base } = baseEnvironment();
  const startedAt = performance.now();
  const child = await startChild(process.execPath, [main], {
    env: { ...base, NODE_ENV: 'production', ...env },
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  try {
    while (!(await isReady(Number(env.ADMIN_PORT)))) {
      if (child.process.exitCode !== null) throw new Error(`${main} ended: ${await lastLineOf(logFile)}`);
      if (performance.now() - startedAt > START_MS) throw new Error(`${main} is not ready after ${START_MS / 1000} s`);
      await sleep(POLL_INTERVAL_MS);
    }
    const readyMs = performance.now() - startedAt;
    return { child, readyMs, cpuSeconds: (await usageOf(child.pid))?.cpuSeconds ?? Number.NaN };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

async function lastLineOf(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trimEnd().split('\n').at(-1) || 'it printed nothing';
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/health/ready', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('error', () => resolve(false));
  });
}
