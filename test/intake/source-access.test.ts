import '@shopify/shopify-api/adapters/node';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { setRateLimit, setSuspended } from '@orders/database/accounts/accounts.ts';
import { listRejected } from '@orders/database/rejected-deliveries.ts';
import { removeSource, replaceSourceId, replaceSourceSecret } from '@orders/database/sources/change-sources.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { createSourceId } from '@orders/domain/api-key.ts';
import type { SourceSettings } from '@orders/domain/sources/settings.ts';
import { until } from '@orders/test-services/until.ts';
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api';
import { Webhook } from 'standardwebhooks';
import { moveClock } from '../harness/clock.ts';
import { describeWith, findProgram } from '../harness/programs.ts';
import {
  createTestSource,
  deliver,
  readDeliveryFixture,
  SOURCE_SECRET,
  shopifyHeaders,
  standardHeaders,
  wooCommerceHeaders,
} from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

const BODY = JSON.stringify({ source_order_id: 'x-1' });

const { stack, knex, db, api, account } = useStack({ intake: true, worker: true, account: true });

const status = async (source: Source, headers: Record<string, string>, body: string | Buffer = BODY) =>
  (await deliver(api, source, body, headers)).status;
const hmac = (algorithm: string, encoding: 'hex' | 'base64', secret = SOURCE_SECRET, body = BODY) =>
  createHmac(algorithm, secret).update(body).digest(encoding);

describe('a custom source', () => {
  const settings: [string, SourceSettings['signature'], string][] = [
    [
      'SHA-256 in hex',
      { scheme: 'hmac', header: 'x-sig', algorithm: 'sha256', encoding: 'hex' },
      hmac('sha256', 'hex'),
    ],
    [
      'SHA-1 in base64 after a prefix',
      { scheme: 'hmac', header: 'x-sig', algorithm: 'sha1', encoding: 'base64', prefix: 'sha1=' },
      `sha1=${hmac('sha1', 'base64')}`,
    ],
    ['a token', { scheme: 'token', header: 'x-sig' }, SOURCE_SECRET],
    [
      'a token after a prefix',
      { scheme: 'token', header: 'authorization', prefix: 'Bearer ' },
      `Bearer ${SOURCE_SECRET}`,
    ],
  ];
  test.each(settings)('with %s accepts what proves the secret and nothing else', async (_name, signature, proof) => {
    const source = await createTestSource(stack, account, 'custom', { settings: { signature } });
    const header = 'header' in signature ? signature.header : '';
    expect(await status(source, { [header]: proof })).toBe(202);
    for (const wrong of [`${proof}0`, proof.slice(0, -3), proof.slice(1), 'x', hmac('sha512', 'hex')])
      expect([wrong, await status(source, { [header]: wrong })]).toEqual([wrong, 401]);
    expect(await status(source, {})).toBe(401);
    if (signature.scheme === 'hmac') expect(await status(source, { [header]: proof }, `${BODY} `)).toBe(401);
  });
});

test('Standard Webhooks are accepted with any of several signatures, up to five minutes before and after they were signed', async () => {
  const key = Buffer.from('0123456789abcdef0123456789abcdef');
  const secret = `whsec_${key.toString('base64')}`;
  const source = await createTestSource(stack, account, 'standard-webhooks', { secret });
  const body = JSON.stringify({ type: 'order.created', data: { id: 'sw-1' } });
  const headers = (seconds: number) => {
    const timestamp = String(Math.floor(Date.now() / 1000) + seconds);
    const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64');
    return {
      'webhook-id': 'msg_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} v1a,x v1,${signature}`,
    };
  };
  expect(await status(source, headers(-180), body)).toBe(202);
  expect(await status(source, headers(180), body)).toBe(202);
  expect(await status(source, { ...headers(0), 'webhook-id': 'msg_2' }, body)).toBe(401);
  expect(await status(source, { ...headers(0), 'webhook-timestamp': '1e9' }, body)).toBe(401);
});

test('a rejected delivery is listed with the name of its source, and an accepted one is counted', async () => {
  const own = await stack.account();
  const source = await createTestSource(stack, own, 'shopify');
  const headers = { ...shopifyHeaders(BODY), 'X-Shopify-Hmac-Sha256': 'AAAA' };
  expect(await status(source, headers)).toBe(401);
  expect(await status(source, { 'X-Shopify-Topic': 'orders/create' })).toBe(401);
  const rejected = await until('both are listed', async () => {
    const listed = await listRejected(db, own.id, 10);
    return listed.length === 2 && listed;
  });
  expect(rejected).toMatchObject([
    { code: 'missing_signature', channel: 'webhook', source_name: 'my shopify', key_name: null },
    { code: 'invalid_signature', channel: 'webhook', source_name: 'my shopify', key_name: null },
  ]);
});

test('a delivery with the same id is stored once, and its order is not lost if the content differs', async () => {
  const source = await createTestSource(stack, account, 'shopify');
  const order = (id: number, total: string) => JSON.stringify({ id, total_price: total });
  const headersOf = (body: string) => ({ ...shopifyHeaders(body), 'X-Shopify-Webhook-Id': 'one' });
  const send = (body: string) => deliver(api, source, body, headersOf(body));
  const first = await send(order(71, '1.00'));
  expect(await send(order(71, '1.00'))).toMatchObject({
    status: 202,
    body: { receipt_id: first.body.receipt_id, duplicate: true },
  });
  await api.final(account, first.body.receipt_id);
  const changed = await send(order(71, '2.00'));
  expect(changed.body).toMatchObject({ duplicate: true, payload_mismatch: true });
  expect((await api.final(account, changed.body.kept_as)).body).toMatchObject({
    status: 'duplicate',
    changes: [{ pointer: '/total', from: '1.00', to: '2.00' }],
  });
  const other = await send(order(72, '2.00'));
  expect((await api.final(account, other.body.kept_as)).body).toMatchObject({
    status: 'dead',
    error: { code: 'idempotency_key_reused' },
  });
  const { source_number } = source;
  const stored = await knex('receipts').where({ account_id: account.id, source_number }).select('raw_length');
  expect(stored.map(({ raw_length }) => raw_length)).toEqual(
    [order(71, '1.00'), order(71, '2.00'), order(72, '2.00')].map(({ length }) => length),
  );
});

test('a new secret works at once, the old one for the overlap; a replaced URL and a removed source stop within 5 seconds', async () => {
  const source = await createTestSource(stack, account, 'shopify');
  const order = JSON.stringify({ id: 90 });
  const sent = (secret: string, to = source) => status(to, shopifyHeaders(order, 'orders/create', secret), order);
  expect(await sent(SOURCE_SECRET)).toBe(202);
  const change = { accountId: account.id, sourceNumber: source.source_number };
  await replaceSourceSecret(db, stack.secretsKey, { ...change, secret: 'new one', overlapMs: 3_600_000 });
  expect([await sent('new one'), await sent(SOURCE_SECRET), await sent('neither')]).toEqual([202, 202, 401]);
  await replaceSourceSecret(db, stack.secretsKey, { ...change, secret: 'newest', overlapMs: 0 });
  expect(await sent('newest')).toBe(202);
  await moveClock(5);
  expect(await sent('new one')).toBe(401);
  const moved = (await replaceSourceId(db, account.id, source.source_number)) as Source;
  expect(await sent('newest', moved)).toBe(202);
  await moveClock(5);
  expect(await sent('newest')).toBe(404);
  expect(await removeSource(db, account.id, source.source_number)).toBe(true);
  expect(await removeSource(db, account.id, source.source_number)).toBe(false);
  await moveClock(5);
  expect(await sent('newest', moved)).toBe(404);
});

test('the URL of another installation gets its address; of an installation without one it is unknown', async () => {
  const settings = { BASE_PATH: '/api', INSTALLATIONS: '0=https://orders.example.com,8=https://orders-8.example.com' };
  const beside = await stack.intake(settings);
  const send = (id: string) => beside.api.send('POST', `/ingest/sources/${id}`, shopifyHeaders(BODY), BODY);
  expect(await send(createSourceId(8))).toMatchObject({
    status: 421,
    body: { code: 'wrong_installation', installation_url: 'https://orders-8.example.com' },
  });
  for (const id of [createSourceId(9), createSourceId(), 'src_8_x', 'src_8'])
    expect(await send(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  // Of an account that was moved to here, removed since.
  const removed = createSourceId(8);
  const { source_number } = await createTestSource(stack, await stack.account(), 'shopify');
  await knex('sources').where({ source_number }).update({ source_id: removed, removed_at: knex.fn.now() });
  expect(await send(removed)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  await beside.close();
});

test('unknown sources, other methods, suspended accounts and limits are rejected as on the other routes', async () => {
  const own = await stack.account();
  const source = await createTestSource(stack, own, 'shopify');
  const order = JSON.stringify({ id: 1 });
  const path = `/ingest/sources/${source.source_id}`;
  for (const id of [createSourceId(), 'src_x', '%00', 'x'.repeat(300)])
    expect(await api.send('POST', `/ingest/sources/${id}`, shopifyHeaders(order), order)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  const wrongMethod = await api.send('GET', path);
  expect(wrongMethod).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  const long = JSON.stringify({ id: 1, note: 'x'.repeat(262_144) });
  expect(await status(source, shopifyHeaders(long), long)).toBe(413);
  await setRateLimit(db, own.id, { requests: 1, seconds: 3600 });
  await moveClock(5);
  // What is not authentic does not count.
  for (let count = 0; count < 3; count++) expect(await status(source, shopifyHeaders('other'), order)).toBe(401);
  expect(await status(source, shopifyHeaders(order), order)).toBe(202);
  const limited = await deliver(api, source, order, shopifyHeaders(order));
  expect(limited).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } });
  await setRateLimit(db, own.id, null);
  await setSuspended(db, own.id, true);
  await moveClock(5);
  expect(await status(source, shopifyHeaders(order), order)).toBe(403);
  await knex('accounts').where({ account_id: own.id }).update({ moved_to: 'https://orders-2.example.com' });
  await moveClock(5);
  expect(await deliver(api, source, order, shopifyHeaders(order))).toMatchObject({
    status: 421,
    body: { code: 'wrong_installation', installation_url: 'https://orders-2.example.com' },
  });
});

const STANDARD_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

test("Shopify's own library accepts them", async () => {
  const [apiVersion] = Object.values(ApiVersion);
  const shopify = shopifyApi({
    apiKey: 'key',
    apiSecretKey: SOURCE_SECRET,
    hostName: 'lamps.example',
    apiVersion: apiVersion as ApiVersion,
    isEmbeddedApp: false,
    logger: { level: LogSeverity.Error },
  });
  const body = readDeliveryFixture('shopify/arabic');
  const validate = (headers: Record<string, string>) =>
    shopify.webhooks.validate({ rawBody: body.toString(), rawRequest: { method: 'POST', url: '/', headers } });
  expect(await validate(shopifyHeaders(body))).toMatchObject({ valid: true, topic: 'ORDERS_CREATE' });
  expect(await validate(shopifyHeaders(body, 'orders/create', 'another'))).toMatchObject({ valid: false });
});

describeWith('php')('WooCommerce', () => {
  // The line of WC_Webhook::generate_signature, whose wp_specialchars_decode is WordPress's htmlspecialchars_decode:
  // base64_encode( hash_hmac( $hash_algo, $payload, wp_specialchars_decode( $this->get_secret(), ENT_QUOTES ), true ) )
  // https://github.com/woocommerce/woocommerce/blob/trunk/plugins/woocommerce/includes/class-wc-webhook.php
  const SIGN =
    "echo base64_encode(hash_hmac('sha256', file_get_contents('php://stdin'), htmlspecialchars_decode($argv[1], ENT_QUOTES), true));";

  test('its own code signs like the tests', () => {
    const body = readDeliveryFixture('woocommerce/arabic');
    const signature = execFileSync(findProgram('php') ?? '', ['-r', SIGN, '--', SOURCE_SECRET], {
      input: body,
    }).toString();
    expect(wooCommerceHeaders(body)).toMatchObject({ 'X-WC-Webhook-Signature': signature });
  });
});

describe('Standard Webhooks', () => {
  const body = readDeliveryFixture('standard-webhooks/order');
  let source: Source;

  beforeAll(async () => {
    source = await createTestSource(stack, account, 'standard-webhooks', { secret: STANDARD_SECRET });
  });

  test.each([
    [-360, 'before'],
    [360, 'after'],
  ])(
    'a delivery signed by standardwebhooks %i seconds from now is rejected with the difference',
    async (seconds, side) => {
      const now = Math.floor(Date.now() / 1000);
      const signedAt = new Date((now + seconds) * 1000);
      const reply = await deliver(api, source, body, standardHeaders(body, STANDARD_SECRET, 'msg_1', signedAt));
      expect(reply).toMatchObject({ status: 401, body: { code: 'invalid_signature' } });
      const text = `webhook-timestamp is (\\d+) seconds ${side} this service's clock`;
      const [, said] = new RegExp(text).exec(reply.body.detail) ?? [];
      // The clock of the service when it compared them.
      const clock = now + seconds + (side === 'before' ? Number(said) : -Number(said));
      expect(clock).toBeGreaterThanOrEqual(now);
      expect(clock).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
    },
  );

  test('a delivery signed by standardwebhooks three minutes ago is accepted, and another secret is not', async () => {
    const signedAt = new Date(Date.now() - 180_000);
    const headers = standardHeaders(body, STANDARD_SECRET, 'msg_1', signedAt);
    expect(() => new Webhook(STANDARD_SECRET).verify(body.toString(), headers)).not.toThrow();
    expect(await deliver(api, source, body, headers)).toMatchObject({ status: 202 });
    const forged = standardHeaders(body, `whsec_${Buffer.alloc(32, 8).toString('base64')}`);
    expect(await deliver(api, source, body, forged)).toMatchObject({ status: 401 });
  });
});
