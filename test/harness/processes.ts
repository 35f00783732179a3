import { resolve } from 'node:path';
import { type Child, startChild } from '@orders/local-services';

const ROOT = resolve(import.meta.dirname, '../..');

/** Starts an app as the process it is in production, so that a test can kill it; what it prints is shown, or can be read from pipes. */
export function startApp(
  app: 'intake' | 'worker',
  env: Record<string, string>,
  output: 'inherit' | 'pipe' = 'inherit',
): Promise<Child> {
  return startChild(process.execPath, [resolve(ROOT, 'apps', app, 'src/main.ts')], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', output, output],
  });
}
