import { expect, test } from '@jest/globals';
import { VERSION } from '@orders/runtime/version.ts';
import { readMetrics } from '../harness/read-metrics.ts';
import { runCommand } from '../harness/run-command.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack } = useStack();

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
  expect(await runCommand(['--version'], env)).toEqual({
    code: 0,
    stdout: `${VERSION} (revision ${revision})\n`,
    stderr: '',
  });
});
