import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { untilReady } from '@orders/test-services/apps.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { openApi } from '../harness/api.ts';
import { startApp } from '../harness/processes.ts';
import { describeWith } from '../harness/programs.ts';
import { startTlsStores, type TlsStores } from '../harness/tls-stores.ts';

let stores: TlsStores;

/** The environment of an app with components/private-ca by default. */
function environment(own: Record<string, string> = {}): Record<string, string> {
  return {
    NODE_ENV: 'production',
    DATABASE_URL: `${stores.postgresUrl}?sslmode=verify-full`,
    QUEUE_URL: stores.redisUrl,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    NODE_EXTRA_CA_CERTS: stores.ca,
    ...own,
  };
}

async function orders(args: string[], env: Record<string, string>): Promise<{ code: number; output: string }> {
  const { process: child } = await startApp('cli', env, { args, output: 'pipe' });
  const [output, errors, [code]] = await Promise.all([
    // biome-ignore lint/style/noNonNullAssertion: they are pipes.
    text(child.stdout!),
    // biome-ignore lint/style/noNonNullAssertion: they are pipes.
    text(child.stderr!),
    once(child, 'exit'),
  ]);
  return { code, output: output + errors };
}

describeWith('openssl', 'redis-server')('a Postgres and a Redis with certificates of a private CA', () => {
  beforeAll(async () => {
    stores = await startTlsStores();
  });
  test('are trusted by every process with the CA, and an order is written', async () => {
    const env = environment();
    expect(await orders(['migrate'], env)).toMatchObject({ code: 0 });
    const [port, adminPort, portalPort, portalAdminPort] = await Promise.all([1, 2, 3, 4].map(() => freePort()));
    const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
    const portalPorts = { PORT: String(portalPort), ADMIN_PORT: String(portalAdminPort) };
    const urls = { PORTAL_URL: 'https://portal.example.com', INTAKE_URL: 'https://orders.example.com' };
    const apps = [
      await startApp('intake', { ...env, ...ports }),
      await startApp('worker', { ...env, ADMIN_PORT: '0' }),
      await startApp('portal', { ...env, ...portalPorts, ...urls }),
    ];
    try {
      await untilReady(adminPort as number);
      await untilReady(portalAdminPort as number);
      const account = JSON.parse((await orders(['accounts', 'create', 'Corner Bakery', '--json'], env)).output);
      const { key } = JSON.parse((await orders(['keys', 'create', String(account.account_id), '--json'], env)).output);
      const api = await openApi(`http://127.0.0.1:${port}`);
      const sender = { id: account.account_id, key, secret: null };
      const { status, body } = await api.order(sender, { source_order_id: 'over-tls' });
      expect(status).toBe(202);
      expect((await api.final(sender, body.receipt_id)).body.status).toBe('written');
    } finally {
      for (const app of apps) await app.stop();
    }
  });

  test('Postgres is also trusted with a CA in its URL, and with no other CA', async () => {
    const { NODE_EXTRA_CA_CERTS, ...env } = environment();
    const named = `${stores.postgresUrl}?sslmode=verify-full&sslrootcert=${encodeURIComponent(stores.ca)}`;
    expect(await orders(['accounts', 'list'], { ...env, DATABASE_URL: named })).toMatchObject({ code: 0 });
    const { code, output } = await orders(['accounts', 'list'], env);
    expect([code, output]).toEqual([1, expect.stringContaining('UNABLE_TO_VERIFY_LEAF_SIGNATURE')]);
  });

  test('Postgres is rejected under a name that is not in its certificate', async () => {
    const DATABASE_URL = `${stores.postgresUrl.replace('localhost', '127.0.0.1')}?sslmode=verify-full`;
    const { code, output } = await orders(['accounts', 'list'], environment({ DATABASE_URL }));
    expect([code, output]).toEqual([1, expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID')]);
  });
});
