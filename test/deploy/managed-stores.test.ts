import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { openApi } from '../harness/api.ts';
import { readBlocks } from '../harness/markdown-blocks.ts';
import { startApp } from '../harness/processes.ts';
import { describeWith } from '../harness/programs.ts';
import { startTlsStores, type TlsStores } from '../harness/tls-stores.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/operating/managed-stores.md'), 'utf8');
/** The server of the tests already has a role and a database `orders`. */
const asManager = (statement: string) =>
  statement
    .replaceAll(/(role|owner|grant) orders/g, '$1 manager')
    .replace('database orders', 'database managed')
    .replace('<owner password>', passwordOf('manager'));
const APPS = ['intake', 'worker', 'portal', 'notifier'] as const;
const SECRETS_KEY = randomBytes(32).toString('base64');
const passwordOf = (role: string) => `password-of-${role}`;
let stores: TlsStores;

/** The address of the database `managed` for a role. */
function postgresAs(role: string): string {
  const url = new URL(stores.postgresUrl);
  return `postgres://${role}:${passwordOf(role)}@${url.host}/managed`;
}

/** The environment of a process that uses these stores by a role. */
function environment(role: string, own: Record<string, string> = {}): Record<string, string> {
  return {
    NODE_ENV: 'production',
    DATABASE_URL: `${postgresAs(role)}?sslmode=verify-full`,
    QUEUE_URL: stores.redisUrl.replace('//', '//orders:queue@'),
    SECRETS_KEY,
    NODE_EXTRA_CA_CERTS: stores.ca,
    ...own,
  };
}

async function connect(connectionString: string, ca: Buffer): Promise<Client> {
  const client = new Client({ connectionString, ssl: { ca } });
  await client.connect();
  return client;
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

describeWith('openssl', 'redis-server')('a managed Postgres and a managed Redis', () => {
  // As such services have them: certificates of a private CA, no superuser, and a Redis without the commands of administrators.
  beforeAll(async () => {
    stores = await startTlsStores();
    const ca = await readFile(stores.ca);
    const superuser = await connect(stores.postgresUrl, ca);
    await superuser.query(`create role provider login createrole createdb password 'provider'`);
    const administrator = await connect(stores.postgresUrl.replace('orders:orders', 'provider:provider'), ca);
    const [sql = ''] = readBlocks(page).map((block) => block.text);
    for (const statement of sql.trim().split('\n').map(asManager)) await administrator.query(statement);
    await administrator.end();
    await superuser.end();
    const redis = new Redis(stores.redisUrl, { tls: { ca } });
    const [, permissions = ''] = /`(\+@all [^`]+)`/.exec(page) ?? [];
    await redis.call('ACL', 'SETUSER', 'orders', 'on', '>queue', '~*', '&*', ...permissions.split(' '));
    redis.disconnect();
  });

  test('serve every process in a role of its own, and an order is written', async () => {
    const passwords = Object.fromEntries(
      APPS.map((app) => [`${app.toUpperCase()}_DB_PASSWORD`, passwordOf(`orders_${app}`)]),
    );
    const owner = environment('manager', passwords);
    expect(await orders(['migrate'], owner)).toMatchObject({ code: 0 });
    const urls = { PORTAL_URL: 'https://portal.example.com', INTAKE_URL: 'https://orders.example.com' };
    const apps: Child[] = [];
    let port = 0;
    try {
      for (const app of APPS) {
        const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())];
        apps.push(await startApp(app, environment(`orders_${app}`, { ...urls, PORT, ADMIN_PORT })));
        await untilReady(Number(ADMIN_PORT));
        if (app === 'intake') port = Number(PORT);
      }
      const account = JSON.parse((await orders(['accounts', 'create', 'Corner Bakery', '--json'], owner)).output);
      const { key } = JSON.parse(
        (await orders(['keys', 'create', String(account.account_id), '--json'], owner)).output,
      );
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
    const { NODE_EXTRA_CA_CERTS, ...env } = environment('manager');
    const DATABASE_URL = `${env.DATABASE_URL}&sslrootcert=${encodeURIComponent(stores.ca)}`;
    expect(await orders(['accounts', 'list'], { ...env, DATABASE_URL })).toMatchObject({ code: 0 });
    const { code, output } = await orders(['accounts', 'list'], env);
    expect([code, output]).toEqual([1, expect.stringContaining('UNABLE_TO_VERIFY_LEAF_SIGNATURE')]);
  });

  test('Postgres is rejected under a name that is not in its certificate', async () => {
    const DATABASE_URL = `${postgresAs('manager').replace('localhost', '127.0.0.1')}?sslmode=verify-full`;
    const { code, output } = await orders(['accounts', 'list'], environment('manager', { DATABASE_URL }));
    expect([code, output]).toEqual([1, expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID')]);
  });
});
