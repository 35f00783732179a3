import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BUNDLE_DIRECTORY, bundleApps } from '@orders/bundle';
import { VERSION } from '@orders/runtime';
import { baseEnvironment, type Child, freePort, startChild } from '@orders/test-services';
import { openApi } from '../harness/api.ts';
import { createPerson } from '../harness/people.ts';
import { untilReady } from '../harness/processes.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { type Stack, startStack, TEST_HASH_COST } from '../harness/stack.ts';

let stack: Stack;
const running: Child[] = [];
beforeAll(async () => {
  await bundleApps();
  stack = await startStack(QUEUE_KINDS.at(-1) ?? 'postgres');
});
afterAll(async () => {
  await Promise.all(running.map((child) => child.stop()));
});

/** Starts an app of the bundle and waits until it is ready. @returns its URL. */
async function start(app: string, settings: Record<string, string> = {}): Promise<string> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const url = `http://localhost:${port}`;
  const env = { ...stack.env, LOG_LEVEL: 'error', PORT: String(port), ADMIN_PORT: String(adminPort), PORTAL_URL: url };
  running.push(
    await startChild(process.execPath, [join(BUNDLE_DIRECTORY, `${app}.js`)], {
      env: { ...baseEnvironment(), ...env, ...settings },
      stdio: 'inherit',
    }),
  );
  await untilReady(adminPort);
  return url;
}

test('the bundled apps take an order with tracing on, write it, and serve their pages', async () => {
  const intake = await start('intake', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  await start('worker');
  await start('notifier');
  const account = await stack.account();
  const api = await openApi(intake);
  // A body of this size is parsed in the thread, which has a file of its own.
  const order = { source_order_id: 'bundled', customer: { name: 'مريم' }, unknown: 'x'.repeat(20_000) };
  const { body } = await api.order(account, order);
  expect((await api.final(account, body.receipt_id)).body.status).toBe('written');
  for (const path of ['/docs', '/docs/swagger-ui-bundle.js', '/docs/senders', '/docs/senders/copy.js'])
    expect((await fetch(intake + path)).status).toBe(200);
});

test('the bundled portal signs in an operator and serves its page, the help and the queue board', async () => {
  const settings = { OPERATOR_SECOND_FACTOR: 'optional', PASSWORD_HASH_COST: TEST_HASH_COST };
  const portal = await start('portal', { INTAKE_URL: 'http://127.0.0.1:9', ...settings });
  const { email, password } = await createPerson(stack, null);
  const session = await fetch(`${portal}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: portal },
    body: JSON.stringify({ email, password }),
  });
  expect(session.status).toBe(204);
  const cookies = session.headers.getSetCookie().map((one) => one.split(';')[0]);
  for (const path of ['/', '/help/ar', '/help/theme.js', '/operator/queues', '/operator/queues/static/images/logo.svg'])
    expect((await fetch(portal + path, { headers: { Cookie: cookies.join('; ') } })).status).toBe(200);
});

test('the bundled command line runs, and finds what it grants the apps', async () => {
  const orders = async (...args: string[]) =>
    (
      await promisify(execFile)(process.execPath, [join(BUNDLE_DIRECTORY, 'cli.js'), ...args], {
        env: { ...baseEnvironment(), ...stack.env },
      })
    ).stdout;
  expect(await orders('--version')).toContain(VERSION);
  await orders('migrate');
  expect(await orders('accounts', 'list')).toContain('test ');
});
