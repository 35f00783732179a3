import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { startChild } from '@orders/test-services/child.ts';
import { makeDirectory } from '../harness/directory.ts';

const ROOT = resolve(import.meta.dirname, '../..');

let clone: string;

beforeAll(async () => {
  clone = makeDirectory();
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
});

/** The packages below `node_modules`. */
const installed = async () => (await readdir(join(clone, 'node_modules/.pnpm'))).filter((name) => name.includes('@'));

test('npm start in a fresh clone installs what running needs, builds the page and starts', async () => {
  const { CI: _, ...environment } = process.env;
  // What npm runs; npm itself ends before what it runs.
  const child = await startChild('sh', [join(clone, 'packages/dev-server/start.sh')], {
    env: { ...environment, PORT: '0', PORTAL_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  const { promise: running, resolve } = Promise.withResolvers<void>();
  child.process.stdout?.on('data', (chunk) => {
    printed += chunk;
    if (printed.includes('The order ingestion service is running.')) resolve();
  });
  await Promise.race([running, child.exited]);
  expect(printed).toContain("Building the portal's page …");
  expect(existsSync(join(clone, 'node_modules/jest'))).toBe(false);
  expect((await installed()).length).toBeLessThan(350);
  await child.stop('SIGINT');
  expect(child.process.exitCode).toBe(0);
});
