import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { createApiKey, createSourceId, hashApiKey } from '@orders/domain/api-key.ts';
import { startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { run } from '../cli/run.ts';
import { type Api, openApi, type TestAccount } from '../harness/api.ts';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { createTestDatabase } from '../harness/database.ts';
import { describeWith } from '../harness/programs.ts';
import { readShippedConfig } from '../harness/shipped-config.ts';
import { createTestSource, deliver, shopifyHeaders } from '../harness/sources.ts';
import { type RunningIntake, type Stack, startStack } from '../harness/stack.ts';

/** An installation with an account and a source. */
interface Installation {
  stack: Stack;
  intake: RunningIntake;
  account: TestAccount;
  source: { source_id: string };
}

const BODY = '{"id": 1, "name": "#1"}';
const UNKNOWN_URL = 'https://orders-8.example.com';

describeWith('haproxy')('haproxy before two installations', () => {
  let first: Installation;
  let second: Installation;
  /** Of an account that was moved from the first to the second. */
  let moved: TestAccount;
  /** What the command prints. */
  let map: string;
  let movedSource: { source_id: string };
  /** Through haproxy. */
  let api: Api;

  async function startInstallation(number: number, ports: number[], adminPort: number): Promise<Installation> {
    const database = await createTestDatabase({ installation: number });
    const stack = await startStack('postgres', { database });
    const urls = ports.map((port, index) => `${index}=http://127.0.0.1:${port}`);
    const intake = await stack.intake({
      PORT: String(ports[number]),
      ADMIN_PORT: String(adminPort),
      // Only the first knows another one.
      INSTALLATIONS: [...urls, ...(number === 0 ? [`8=${UNKNOWN_URL}`] : [])].join(','),
    });
    const account = await stack.account();
    return { stack, intake, account, source: await createTestSource(stack, account, 'shopify') };
  }

  /** Moves a new account as far as requests notice it. */
  async function moveAccount(from: Installation, to: Installation): Promise<void> {
    moved = await from.stack.account();
    movedSource = await createTestSource(from.stack, moved, 'shopify');
    const there = await to.stack.account();
    const itsSource = await createTestSource(to.stack, there, 'shopify');
    await to.stack.database
      .knex('api_keys')
      .where({ account_id: there.id })
      .update({ key_hash: hashApiKey(moved.key) });
    await to.stack.database
      .knex('sources')
      .where({ source_id: itsSource.source_id })
      .update({ source_id: movedSource.source_id });
    await from.stack.database.knex('accounts').where({ account_id: moved.id }).update({ moved_to: to.intake.api.url });
  }

  beforeAll(async () => {
    const ports = [await freePort(), await freePort()];
    const adminPorts = [await freePort(), await freePort()] as const;
    first = await startInstallation(0, ports, adminPorts[0]);
    second = await startInstallation(1, ports, adminPorts[1]);
    await moveAccount(first, second);

    const directory = await mkdtemp(join(tmpdir(), 'orders-haproxy-'));
    ({ stdout: map } = await run(['accounts', 'moved-keys'], { DATABASE_URL: first.stack.database.directUrl }));
    await writeFile(join(directory, 'moved.map'), map);
    const lines = ['0 installation0', '1 installation1', `${second.intake.api.url} installation1`];
    await writeFile(join(directory, 'installations.map'), `${lines.join('\n')}\n`);
    const port = await freePort();
    const [unused, statsPort] = [await freePort(), await freePort()];
    const shipped = await readShippedConfig('haproxy/installations.cfg', {
      '/run/haproxy/admin.sock': join(directory, 'admin.sock'),
      'maxconn 8000': 'maxconn 200',
      '127.0.0.1:8080': `127.0.0.1:${port}`,
      '127.0.0.1:8404': `127.0.0.1:${statsPort}`,
      '127.0.0.1:8091 port 9091': `127.0.0.1:${ports[0]} port ${adminPorts[0]}`,
      '127.0.0.1:8092 port 9092': `127.0.0.1:${unused}`,
      '127.0.0.1:8191 port 9191': `127.0.0.1:${ports[1]} port ${adminPorts[1]}`,
      '127.0.0.1:8192 port 9192': `127.0.0.1:${unused}`,
      '/etc/haproxy/maps/moved.map)': `${directory}/moved.map)`,
      '/etc/haproxy/maps/installations.map)': `${directory}/installations.map)`,
      // A slow machine does not reach it.
      'timeout http-request 30s': 'timeout http-request 10m',
    });
    const file = join(directory, 'haproxy.cfg');
    await writeFile(file, shipped);
    // Reports errors of the configuration.
    await promisify(execFile)('haproxy', ['-c', '-f', file]);
    const haproxy = await startChild('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
    closeAtEnd({
      async close() {
        await haproxy.stop();
        await rm(directory, { recursive: true, force: true });
      },
    });
    const url = `http://127.0.0.1:${port}`;
    // It takes each server for up until its checks have failed.
    await until('haproxy has checked the servers', async () => {
      const stats = await fetch(`http://127.0.0.1:${statsPort}/;csv`).then(
        (reply) => reply.text(),
        () => '',
      );
      return stats.match(/^installation[01],(intake1,(?:[^,]*,){15}UP|intake2,(?:[^,]*,){15}DOWN)/gm)?.length === 4;
    });
    api = await openApi(url);
  });

  /** How many receipts an installation has of an account. */
  async function count({ stack }: Installation, account: { id: number }): Promise<number> {
    return (await stack.database.knex('receipts').where({ account_id: account.id })).length;
  }
  const sendTo = (to: Api, source: { source_id: string }) => deliver(to, source, BODY, shopifyHeaders(BODY));
  const rejected = (installation_url: string) => ({
    status: 421,
    body: { code: 'wrong_installation', installation_url },
  });

  test('a key reaches the installation whose number it has, with any spelling of the scheme', async () => {
    for (const installation of [first, second]) {
      const { account } = installation;
      for (const scheme of ['Bearer', 'bEARER'])
        expect(
          await api.order(account, { source_order_id: scheme }, { Authorization: `${scheme} ${account.key}` }),
        ).toMatchObject({ status: 202 });
      expect(await count(installation, account)).toBe(2);
    }
  });

  test('a key of a test account does too', async () => {
    const { db, knex } = second.stack.database;
    const tests = await second.stack.account();
    await knex('accounts').where({ account_id: tests.id }).update({ test_of: second.account.id });
    const { key } = await createKey(db, tests.id, 'of tests');
    expect(key).toMatch(/^oik_test_1_/);
    expect((await api.order({ ...tests, key }, { source_order_id: 'T-1' })).status).toBe(202);
    expect(await count(second, tests)).toBe(1);
  });

  test('the URL of a source reaches its installation', async () => {
    for (const { source } of [first, second]) expect((await sendTo(api, source)).status).toBe(202);
    // Some platforms sign in by the same header, which is then no key.
    const body = JSON.stringify({ id: 2 });
    const headers = { ...shopifyHeaders(body), Authorization: `Bearer ${first.account.key}` };
    expect((await deliver(api, second.source, body, headers)).status).toBe(202);
  });

  test('keys and sources of a moved account reach their new installation, by a map of hashes', async () => {
    const hashes = [moved.key, movedSource.source_id].map((one) => createHash('sha256').update(one).digest('hex'));
    expect(new Set(map.trim().split('\n'))).toEqual(new Set(hashes.map((hash) => `${hash} ${second.intake.api.url}`)));
    expect((await api.order(moved, { source_order_id: 'M-1' })).status).toBe(202);
    expect((await sendTo(api, movedSource)).status).toBe(202);
    expect(await count(first, moved)).toBe(0);
    // Without haproxy, they are told where to go.
    expect(await first.intake.api.order(moved, { source_order_id: 'M-2' })).toMatchObject(
      rejected(second.intake.api.url),
    );
    expect(await sendTo(first.intake.api, movedSource)).toMatchObject(rejected(second.intake.api.url));
  });

  test('what is at the wrong installation is told the address of the right one', async () => {
    const order = { source_order_id: 'W-1' };
    expect(await first.intake.api.order(second.account, order)).toMatchObject(rejected(second.intake.api.url));
    expect(await second.intake.api.order(first.account, order)).toMatchObject(rejected(first.intake.api.url));
    expect(await sendTo(first.intake.api, second.source)).toMatchObject(rejected(second.intake.api.url));
    expect(await sendTo(second.intake.api, first.source)).toMatchObject(rejected(first.intake.api.url));
  });

  test('an unknown number, and what is no key, goes to the default', async () => {
    const by = (key: string) => ({ id: 0, key, secret: null });
    const order = { source_order_id: 'U-1' };
    expect(await api.order(by(createApiKey({ installation: 8 })), order)).toMatchObject(rejected(UNKNOWN_URL));
    expect(await sendTo(api, { source_id: createSourceId(8) })).toMatchObject(rejected(UNKNOWN_URL));
    for (const key of [createApiKey({ installation: 9 }), 'installation1', '1', 'x_1_y'])
      expect(await api.order(by(key), order)).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } });
    expect((await api.send('POST', '/ingest/orders')).body.code).toBe('missing_api_key');
  });
});
