import { execFile } from 'node:child_process';
import { glob, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'apps/portal/page');
/** What the page is built from; it shares functions with the portal. */
const SOURCES = ['apps/portal/page/{src,public}/**', 'apps/portal/page/*.*', 'apps/portal/src/**', 'pnpm-lock.yaml'];

/** Whether the page was built after the last change of its sources. */
export async function isPageBuilt(): Promise<boolean> {
  const builtAt = await changedAt(join(PAGE, 'dist/index.html'));
  if (builtAt === 0) return false;
  for await (const path of glob(SOURCES, { cwd: ROOT }))
    if ((await changedAt(join(ROOT, path))) > builtAt) return false;
  return true;
}

/** Builds the portal's page. */
export async function buildPage(): Promise<void> {
  const vite = join(PAGE, 'node_modules/vite/bin/vite.js');
  // With Jest's NODE_ENV it would be a development build.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [vite, 'build', PAGE, '--logLevel', 'warn'], { cwd: ROOT, env });
}

/** When a file was last changed, in milliseconds; 0 if it does not exist. */
const changedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
