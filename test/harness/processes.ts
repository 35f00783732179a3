import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Child, startChild } from '@orders/local-services';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Starts an app as the process it is in production, so that a test can kill it.
 *
 * @param output what it prints is shown, can be read from pipes, or is added to a file.
 */
export async function startApp(
  app: 'intake' | 'worker' | 'cli',
  env: Record<string, string>,
  { args = [], output = 'inherit' }: { args?: string[]; output?: 'inherit' | 'pipe' | { file: string } } = {},
): Promise<Child> {
  const target = typeof output === 'object' ? openSync(output.file, 'a') : output;
  try {
    return await startChild(process.execPath, [resolve(ROOT, 'apps', app, 'src/main.ts'), ...args], {
      env: { PATH: process.env.PATH, LOG_LEVEL: 'error', ...env },
      stdio: ['ignore', target, target],
    });
  } finally {
    if (typeof target === 'number') closeSync(target);
  }
}
