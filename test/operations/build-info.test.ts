import { beforeAll, expect, test } from '@jest/globals';
import { runCli } from '@orders/cli/run-cli.ts';
import { VERSION } from '@orders/runtime/version.ts';
import { readMetrics } from '../harness/read-metrics.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack('postgres');
});

test.each(['intake', 'worker', 'portal', 'notifier'] as const)('%s shows its version and revision', async (name) => {
  const app = await stack[name]({ REVISION: '786f4d4' });
  const build = (await readMetrics(app.adminUrl)).get('orders_build_info');
  expect(build?.samples).toMatchObject([{ labels: { version: VERSION, revision: '786f4d4' }, value: 1 }]);
  expect(app.log.lines).toContainEqual(expect.objectContaining({ version: VERSION, revision: '786f4d4' }));
  await app.close();
});

test.each([
  [{ REVISION: '786f4d4-dirty' }, '786f4d4-dirty'],
  [{ REVISION: '' }, 'unknown'],
  [{}, 'unknown'],
  [{ REVISION: 'no {revision}' }, 'unknown'],
])('orders --version with %j', async (env, revision) => {
  let stdout = '';
  const stream = { write: (text: string) => (stdout += text) };
  expect(await runCli(['--version'], { stdout: stream, stderr: stream, env })).toBe(0);
  expect(stdout).toBe(`${VERSION} (revision ${revision})\n`);
});
