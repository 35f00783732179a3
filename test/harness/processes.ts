import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Child, startChild } from '@orders/local-services';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Starts an app as the process it is in production, so that a test can kill it.
 *
 * @param logFile takes all that it writes, and is added to; otherwise the test's own output does.
 */
export async function startApp(
  app: 'intake' | 'worker' | 'cli',
  env: Record<string, string>,
  { args = [], logFile }: { args?: string[]; logFile?: string } = {},
): Promise<Child> {
  const output = logFile === undefined ? 'inherit' : openSync(logFile, 'a');
  try {
    return await startChild(process.execPath, [resolve(ROOT, 'apps', app, 'src/main.ts'), ...args], {
      env: { PATH: process.env.PATH, LOG_LEVEL: 'error', ...env },
      stdio: ['ignore', output, output],
    });
  } finally {
    if (typeof output === 'number') closeSync(output);
  }
}
