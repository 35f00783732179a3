import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { untilReady } from '@orders/test-services/apps.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { openApi } from '../harness/api.ts';
import { makeDirectory } from '../harness/directory.ts';
import { startApp } from '../harness/processes.ts';
import { useStack } from '../harness/use-stack.ts';

const directory = makeDirectory();

const { stack } = useStack();

async function secret(name: string, value: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `${value}\n`);
  return path;
}

test('processes with all secrets in files accept an order and write it', async () => {
  const { DATABASE_URL, QUEUE_URL, SECRETS_KEY, ...rest } = stack.env as Record<string, string>;
  const address = new URL(DATABASE_URL as string);
  const password = decodeURIComponent(address.password);
  address.password = '';
  const [port, adminPort] = [await freePort(), await freePort()];
  const env = {
    ...rest,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    DATABASE_URL: address.href,
    // An account without signing would not show whether the key was read.
    ...(password && { PGPASSWORD_FILE: await secret('password', password) }),
    QUEUE_URL_FILE: await secret('queue', QUEUE_URL as string),
    SECRETS_KEY_FILE: await secret('key', SECRETS_KEY as string),
  };
  const intake = await startApp('intake', env);
  const worker = await startApp('worker', { ...env, ADMIN_PORT: '0' });
  try {
    await untilReady(adminPort);
    const api = await openApi(`http://127.0.0.1:${port}`);
    const account = await stack.account({ signing: true });
    const { status, body } = await api.webhook(account, { source_order_id: 'from-files' });
    expect(status).toBe(202);
    expect((await api.final(account, body.receipt_id)).body.status).toBe('written');
  } finally {
    await intake.stop();
    await worker.stop();
  }
});

test.each(['intake', 'worker', 'portal', 'notifier', 'cli'])('%s rejects an unreadable file with one line', (app) => {
  const origin = 'https://orders.example.com';
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL_FILE: '/nonexistent/passw0rd',
    QUEUE_URL: 'redis://127.0.0.1',
    SECRETS_KEY: 'a'.repeat(64),
    PORTAL_URL: origin,
    INTAKE_URL: origin,
  };
  const main = resolve(import.meta.dirname, '../../apps', app, 'src/main.ts');
  const args = app === 'cli' ? [main, 'accounts', 'list'] : [main];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8', timeout: 100_000 });
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: 'Configuration: DATABASE_URL_FILE must be a file that can be read.\n',
  });
});
