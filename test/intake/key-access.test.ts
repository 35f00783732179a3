import { describe, expect, test } from '@jest/globals';
import { setSignedOnly } from '@orders/database/accounts/accounts.ts';
import {
  createKey,
  type KeyAccess,
  type NewApiKey,
  replaceKey,
  updateKey,
} from '@orders/database/accounts/api-keys.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { createApiKey, hashApiKey, KEY_SCOPES, type KeyScope } from '@orders/domain/api-key.ts';
import { until } from '@orders/test-services/until.ts';
import { type Api, codeOf, type Reply } from '../harness/api.ts';
import { moveClock } from '../harness/clock.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, intake } = useStack({ intake: true });

type Headers = Record<string, string>;
type Route = [
  name: string,
  scope: KeyScope,
  send: (api: Api, account: TestAccount, headers?: Headers) => Promise<Reply>,
  signedRoute: string | null,
];

const ORDER = { source_order_id: 'access-1' };
const WEBHOOK = '/ingest/webhook';
const WEBHOOK_CANCEL = '/ingest/webhook/cancel';

const ROUTES: Route[] = [
  ['POST /ingest/orders', 'send', (api, by, headers) => api.order(by, ORDER, headers), WEBHOOK],
  ['POST /ingest/orders/batch', 'send', (api, by, headers) => api.batch(by, [ORDER], headers), WEBHOOK],
  ['POST /ingest/webhook', 'send', (api, by, headers) => api.webhook(by, ORDER, headers), null],
  ['POST /ingest/preview', 'send', (api, by, headers) => api.preview(by, ORDER, headers), null],
  ['POST /ingest/orders/cancel', 'cancel', (api, by, headers) => api.cancel(by, ORDER, headers), WEBHOOK_CANCEL],
  ['POST /ingest/webhook/cancel', 'cancel', (api, by, headers) => api.webhookCancel(by, ORDER, headers), null],
  ['POST /ingest/reconcile', 'read', (api, by, headers) => api.reconcile(by, [ORDER.source_order_id], headers), null],
  ['GET /ingest/events', 'read', (api, by, headers) => api.events(by, '', headers), null],
  [
    'GET /ingest/status/{receipt_id}',
    'read',
    (api, by, headers) => api.status(by, '01a1f9bd-9a17-7354-8023-e51a3a7d2f89', headers),
    null,
  ],
];

/** An account that signs and has events, and one key of it. */
async function accountWith(access: KeyAccess): Promise<TestAccount & { keyId: number }> {
  const account = await stack.account({ signing: true });
  await setEvents(db, account.id, true);
  const { key, key_id: keyId } = await createKey(db, account.id, 'limited', access);
  return { ...account, key, keyId };
}

/** Receipts and cancellations of an account. */
async function countStored({ id }: TestAccount): Promise<number> {
  const { rows } = await knex.raw(
    `select (select count(*) from receipts where account_id = :id)
          + (select count(*) from orders where account_id = :id) as stored`,
    { id },
  );
  return Number(rows[0].stored);
}

/** Whether a request got past the checks of access. */
const isLetIn = ({ status, body }: Reply) => status < 300 || body.code === 'receipt_not_found';

function expectRejected(reply: Reply, code: string): void {
  const status = code === 'wrong_installation' ? 421 : 403;
  expect({ status: reply.status, code: reply.body.code }).toEqual({ status, code });
  expect(reply.body.type).toBe(`/docs/senders/errors#${code}`);
}

test('the table below has every route that takes a key', async () => {
  const { body } = await intake.api.send('GET', '/openapi.json');
  const routes = Object.entries<Record<string, { security?: unknown[] }>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.security?.length !== 0)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  expect(new Set(routes)).toEqual(new Set(ROUTES.map(([name]) => name)));
});

describe('scopes', () => {
  test.each(ROUTES)('%s needs the scope %s, and no other', async (_name, scope, send) => {
    for (const one of KEY_SCOPES) {
      const account = await accountWith({ scopes: [one] });
      const reply = await send(intake.api, account);
      if (one === scope) {
        expect([reply.status, reply.body.code, isLetIn(reply)]).toEqual([reply.status, reply.body.code, true]);
        continue;
      }
      expectRejected(reply, 'insufficient_scope');
      expect(reply.headers['www-authenticate']).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);
      expect(await countStored(account)).toBe(0);
    }
  });

  test('a key without the option has all', async () => {
    const account = await accountWith({});
    for (const [, , send] of ROUTES) expect(isLetIn(await send(intake.api, account))).toBe(true);
  });

  test('a missing scope is reported before the rate is counted and the body is read', async () => {
    const account = await accountWith({ scopes: ['read'] });
    const headers = { Authorization: `Bearer ${account.key}`, 'Content-Type': 'text/plain' };
    const reply = await intake.api.send('POST', '/ingest/orders', headers, 'x');
    expectRejected(reply, 'insufficient_scope');
    expect(reply.headers).not.toHaveProperty('ratelimit');
  });
});

describe('addresses', () => {
  test.each<[addresses: string[], from: string, isAllowed: boolean]>([
    [['203.0.113.7'], '203.0.113.7', true],
    [['203.0.113.7'], '203.0.113.8', false],
    [['198.51.100.0/24', '203.0.113.0/30'], '203.0.113.3', true],
    [['203.0.113.0/30'], '203.0.113.4', false],
    [['203.0.113.0/24'], '::ffff:203.0.113.9', true],
    [['203.0.113.0/24'], '::ffff:cb00:7109', true],
    [['2001:db8::/32'], '2001:db8:1::5', true],
    [['2001:db8::/32'], '2001:db9::5', false],
    [['2001:db8::/32'], '203.0.113.7', false],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['203.0.113.7'], 'unknown', false],
    [['203.0.113.7'], '203.0.113.7:4711', false],
  ])('a key for %j used from %s', async (addresses, from, isAllowed) => {
    const account = await accountWith({ addresses });
    const reply = await intake.api.reconcile(account, ['a'], { 'X-Forwarded-For': from });
    if (isAllowed) expect(reply.status).toBe(200);
    else expectRejected(reply, 'address_not_allowed');
  });

  test.each(ROUTES)('%s is rejected from another address', async (_name, _scope, send) => {
    const account = await accountWith({ addresses: ['203.0.113.7'] });
    expectRejected(await send(intake.api, account, { 'X-Forwarded-For': '203.0.113.8' }), 'address_not_allowed');
    expect(await countStored(account)).toBe(0);
  });

  test('of several forwarded addresses the last one that no trusted proxy has counts', async () => {
    const account = await accountWith({ addresses: ['203.0.113.7'] });
    const from = (text: string) => intake.api.reconcile(account, ['a'], { 'X-Forwarded-For': text });
    expectRejected(await from('203.0.113.7, 198.51.100.1'), 'address_not_allowed');
    expect((await from('198.51.100.1, 203.0.113.7')).status).toBe(200);
    expect((await from('198.51.100.1, 203.0.113.7, 127.0.0.1')).status).toBe(200);
  });

  test('the header is ignored if it does not come from a proxy of TRUST_PROXY', async () => {
    const untrusting = await stack.intake({ TRUST_PROXY: '192.0.2.0/24' });
    const [account, local] = [
      await accountWith({ addresses: ['203.0.113.7'] }),
      await accountWith({ addresses: ['127.0.0.0/8'] }),
    ];
    const spoofed = { 'X-Forwarded-For': '203.0.113.7' };
    expectRejected(await untrusting.api.order(account, ORDER, spoofed), 'address_not_allowed');
    expect((await untrusting.api.order(local, ORDER, spoofed)).status).toBe(202);
    await untrusting.close();
  });

  test('the address is checked before the account and the scope, and a wrong address does not tell the scope', async () => {
    const account = await accountWith({ addresses: ['203.0.113.7'], scopes: ['read'] });
    const reply = await intake.api.order(account, ORDER);
    expectRejected(reply, 'address_not_allowed');
    expect(reply.headers).not.toHaveProperty('www-authenticate');
  });
});

describe('signed only', () => {
  async function signedOnlyAccount(access: KeyAccess = {}): Promise<TestAccount> {
    const account = await accountWith(access);
    await setSignedOnly(db, account.id, true);
    return account;
  }

  test.each(ROUTES)('%s', async (_name, _scope, send, signedRoute) => {
    const account = await signedOnlyAccount();
    const reply = await send(intake.api, account);
    if (signedRoute === null) return expect(isLetIn(reply)).toBe(true);
    expectRejected(reply, 'signature_required');
    expect(reply.body.detail).toMatch(new RegExp(` ${signedRoute}\\.$`));
    expect(await countStored(account)).toBe(0);
  });

  test('a stolen key sends nothing: a webhook needs the secret too', async () => {
    const account = await signedOnlyAccount();
    const reply = await intake.api.webhook({ ...account, secret: 'oss_guessed' }, ORDER);
    expect(codeOf(reply)).toEqual([401, 'invalid_signature']);
  });

  test('the detail names the route below BASE_PATH', async () => {
    const based = await stack.intake({ BASE_PATH: '/api' });
    const reply = await based.api.cancel(await signedOnlyAccount(), ORDER);
    expect(reply.body.detail).toMatch(/ \/api\/ingest\/webhook\/cancel\.$/);
    await based.close();
  });

  test('a missing scope is reported first', async () => {
    expectRejected(await intake.api.order(await signedOnlyAccount({ scopes: ['read'] }), ORDER), 'insufficient_scope');
  });

  test('another account may still send with a key alone', async () => {
    await signedOnlyAccount();
    expect((await intake.api.order(await accountWith({}), ORDER)).status).toBe(202);
  });
});

test('a moved account gets the address of its installation on each route, and nothing is stored', async () => {
  // Neither the address of the request nor what the key may do counts here any more.
  const account = await accountWith({ scopes: ['read'], addresses: ['203.0.113.7'] });
  const beside = await accountWith({});
  const moved_to = 'https://orders-2.example.com/api';
  await knex('accounts').where({ account_id: account.id }).update({ moved_to, suspended_at: knex.fn.now() });
  for (const [route, , send] of ROUTES) {
    const { status, body, headers } = await send(intake.api, account);
    expect([route, status, body.code, body.installation_url]).toEqual([route, 421, 'wrong_installation', moved_to]);
    expect(headers).not.toHaveProperty('location');
    expect(isLetIn(await send(intake.api, beside))).toBe(true);
  }
  expect(await countStored(account)).toBe(0);
});

test('a key of another installation gets its address on each route; of an installation without one it is unknown', async () => {
  const settings = { INSTALLATIONS: '0=https://orders.example.com, 8=https://orders-8.example.com/api/' };
  const { api, close } = await stack.intake(settings);
  for (const isTest of [false, true])
    for (const [route, , send] of ROUTES) {
      const by = (installation: number) => ({ id: 0, key: createApiKey({ isTest, installation }), secret: 'x' });
      const { status, body } = await send(api, by(8));
      expect([route, status, body.code, body.installation_url]).toEqual([
        route,
        421,
        'wrong_installation',
        'https://orders-8.example.com/api',
      ]);
      // An unknown one, and the own one.
      for (const number of [9, 0])
        expect(await send(api, by(number))).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } });
    }
  const mistyped = createApiKey({ installation: 8 }).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  expect((await api.order({ id: 0, key: mistyped, secret: null }, ORDER)).status).toBe(401);
  // Of an account that was moved to here, revoked since: the installation that it left does not know that.
  const { id } = await accountWith({});
  const revoked = createApiKey({ installation: 8 });
  const issued = { account_id: id, name: 'moved here', key_hash: hashApiKey(revoked), last_four: revoked.slice(-4) };
  await knex('api_keys').insert({ ...issued, revoked_at: knex.fn.now() });
  expect((await api.order({ id, key: revoked, secret: null }, ORDER)).status).toBe(401);
  await close();
});

test.each<[what: string, change: (account: TestAccount & { keyId: number }) => Promise<unknown>, code: string]>([
  ['scope', ({ keyId }) => updateKey(db, keyId, { scopes: ['read'] }), 'insufficient_scope'],
  ['range', ({ keyId }) => updateKey(db, keyId, { addresses: ['203.0.113.7'] }), 'address_not_allowed'],
  ['setting', ({ id }) => setSignedOnly(db, id, true), 'signature_required'],
  [
    'installation',
    ({ id }) => knex('accounts').where({ account_id: id }).update({ moved_to: 'https://orders-2.example.com' }),
    'wrong_installation',
  ],
])('a changed %s works within 5 seconds for a key that was just used', async (_what, change, code) => {
  const account = await accountWith({});
  expect((await intake.api.order(account, {})).status).toBe(422);
  await change(account);
  await moveClock(5);
  expectRejected(await intake.api.order(account, {}), code);
});

describe('an expiry', () => {
  test('ends a key as any other end does', async () => {
    const account = await accountWith({ lifetime_seconds: 3600 });
    expect((await intake.api.order(account, ORDER)).status).toBe(202);
    await knex('api_keys').where({ key_id: account.keyId }).update({ expires_at: knex.fn.now() });
    await moveClock(5);
    expect(codeOf(await intake.api.order(account, ORDER))).toEqual([401, 'invalid_api_key']);
  });

  test('is counted for operators in the last three days, while the key is in use and not replaced', async () => {
    const counting = async () => {
      // The number is absent if it is not read within two seconds, and read again after a minute.
      return until('the number is read', async () => {
        await moveClock(60);
        const text = await (await fetch(`${intake.adminUrl}/metrics`)).text();
        const [, count] = /^intake_expiring_api_keys (\d+)$/m.exec(text) ?? [];
        return count !== undefined && { count: Number(count) };
      });
    };
    const { count: before } = await counting();
    const day = 86_400;
    const soon = await accountWith({ lifetime_seconds: 2 * day });
    await accountWith({ lifetime_seconds: 2 * day });
    const late = await accountWith({ lifetime_seconds: 4 * day });
    const endless = await accountWith({});
    for (const one of [soon, late, endless]) await intake.api.order(one, ORDER);
    await until('the uses are stored', async () => {
      const keys = [soon.keyId, late.keyId, endless.keyId];
      return (await knex('api_keys').whereIn('key_id', keys).whereNull('last_used_at')).length === 0;
    });
    expect((await counting()).count - before).toBe(1);
    // Nobody needs to be told of a test account.
    const isTestOf = (test_of: number | null) => knex('accounts').where({ account_id: soon.id }).update({ test_of });
    await isTestOf(late.id);
    expect((await counting()).count - before).toBe(0);
    await isTestOf(null);
    await replaceKey(db, soon.keyId, day * 1000);
    expect((await counting()).count - before).toBe(0);
  });
});

test('a replacement has the scopes, the addresses and the lifetime of the key, counted from now', async () => {
  const access: KeyAccess = { scopes: ['cancel'], addresses: ['203.0.113.0/24'], lifetime_seconds: 86_400 };
  const { keyId, id } = await accountWith(access);
  await knex('api_keys')
    .where({ key_id: keyId })
    .update({ expires_at: knex.raw("now() + interval '1 hour'") });
  const created = (await replaceKey(db, keyId, 60_000)) as NewApiKey;
  expect(created).toMatchObject({ ...access, account_id: id });
  expect(Number(created.expires_at) - Number(created.created_at)).toBe(86_400_000);
  expect(await replaceKey(db, keyId, 0)).toBeNull();
  expect(await updateKey(db, keyId, { lifetime_seconds: null })).toBeNull();
});

test('rejected requests are listed for the account', async () => {
  const account = await accountWith({ scopes: ['read'] });
  await intake.api.order(account, ORDER);
  const listed = await until('it is listed', async () => {
    const rows = await knex('rejected_deliveries').where({ account_id: account.id });
    return rows.length > 0 && rows;
  });
  expect(listed).toMatchObject([{ code: 'insufficient_scope', key_id: account.keyId }]);
});
