import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { baseEnvironment, type Child, startChild } from '@orders/test-services/child.ts';
import { closeAtEnd } from './close-at-end.ts';
import { until } from './until.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The output of a process: printed, readable from pipes, or appended to a file. */
type Output = 'inherit' | 'pipe' | { file: string };

/**
 * Starts an app as a separate process, as in production, so that a test can kill it. It is killed after the test file at the latest.
 *
 * @param root of the working tree that contains the app; by default this one.
 */
export async function startApp(
  app: 'intake' | 'worker' | 'portal' | 'notifier' | 'cli',
  env: Record<string, string>,
  { args = [], output = 'inherit', root = ROOT }: { args?: string[]; output?: Output; root?: string } = {},
): Promise<Child> {
  const target = typeof output === 'object' ? openSync(output.file, 'a') : output;
  try {
    const child = await startChild(process.execPath, [resolve(root, 'apps', app, 'src/main.ts'), ...args], {
      env: { ...baseEnvironment(), LOG_LEVEL: 'error', ...env },
      stdio: ['ignore', target, target],
    });
    closeAtEnd({ close: () => child.stop('SIGKILL') });
    return child;
  } finally {
    if (typeof target === 'number') closeSync(target);
  }
}

/** Waits until the app with this admin port is ready. */
export async function untilReady(adminPort: number): Promise<void> {
  const isReady = async () => (await fetch(`http://127.0.0.1:${adminPort}/health/ready`)).ok;
  await until(`the app on admin port ${adminPort} is ready`, () => isReady().catch(() => false));
}
