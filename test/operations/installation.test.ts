import { expect, test } from '@jest/globals';
import { replaceSourceId } from '@orders/database/sources/change-sources.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { createApiKey, createSourceId, hashApiKey } from '@orders/domain/api-key.ts';
import { readConfig } from '@orders/intake/config.ts';
import { until } from '@orders/test-services/until.ts';
import { run } from '../cli/run.ts';
import { createTestDatabase } from '../harness/database.ts';
import { openShop } from '../harness/people.ts';
import { QUEUE_KIND, startQueue } from '../harness/queue.ts';
import { dispatch } from '../harness/review-list.ts';
import { createTestSource, deliver, shopifyHeaders } from '../harness/sources.ts';
import { startStack } from '../harness/stack.ts';

/** Of all installations, the one with the highest ids. */
const LAST = 8999;
/** Ids of 64 bits begin at the first, those of 32 bits at the second. */
const [FIRST_ID, FIRST_SMALL_ID] = [LAST * 1e12 + 1, LAST * 200_000 + 1];

test('ids of an installation are in its range and exact in JSON, from the order to its cancellation', async () => {
  const database = await createTestDatabase({ installation: LAST });
  const stack = await startStack(QUEUE_KIND, { database, queue: await startQueue(QUEUE_KIND, database.directUrl) });
  const intake = await stack.intake();
  const { api } = intake;
  const [portal] = [await stack.portal(), await stack.worker()];
  const shop = await openShop(stack, portal);
  expect(shop.account.id).toBe(FIRST_SMALL_ID);
  const { order_id } = await api.process(shop.account, { source_order_id: 'A-1', customer: { name: 'Aisha' } });
  expect(order_id).toBe(FIRST_ID);
  const second = await api.process(shop.account, { source_order_id: 'A-2' });
  expect(second.order_id).toBe(FIRST_ID + 1);
  expect(Number.isSafeInteger(second.order_id)).toBe(true);

  for (const query of ['', '?q=aisha', '?sort=total', '?sort=oldest'])
    expect(
      (await shop.get(`/orders${query}`)).body.orders.map((order: { order_id: number }) => order.order_id),
    ).toContain(order_id);
  const [page] = (await shop.get('/orders?limit=1')).body.orders;
  const { next_cursor } = (await shop.get('/orders?limit=1')).body;
  expect((await shop.get(`/orders?limit=1&cursor=${next_cursor}`)).body.orders).toMatchObject([{ order_id }]);
  expect(page.order_id).toBe(second.order_id);
  expect(await shop.post('/orders/review', { order_ids: [order_id], to: 'confirmed' })).toMatchObject({ status: 200 });
  await dispatch(database.knex, order_id);
  const cancelled = await api.cancel(shop.account, { source_order_id: 'A-1' });
  expect(cancelled.body).toMatchObject({ outcome: 'requested' });
  expect((await api.cancel(shop.account, { source_order_id: 'A-2' })).body).toMatchObject({ outcome: 'cancelled' });

  const source = await createTestSource(stack, shop.account, 'shopify');
  expect(source.source_number).toBe(FIRST_SMALL_ID);
  const body = '{"id": 1, "name": "#1"}';
  const delivered = await deliver(api, source, body, shopifyHeaders(body));
  await api.final(shop.account, delivered.body.receipt_id);
  expect((await shop.get(`/orders?source=${source.source_number}`)).body.orders).toMatchObject([
    { order_number: '#1', source: { name: 'my shopify' } },
  ]);
  expect(await api.order(shop.account, '{', {})).toMatchObject({ status: 400 });
  const rejected = async () => database.knex('rejected_deliveries').pluck('key_id');
  await until('the rejection is kept', async () => (await rejected()).length > 0);
  expect(await rejected()).toEqual([FIRST_ID]);
  const keys = await database.knex('api_keys').pluck('key_id');
  expect(keys).toEqual([FIRST_ID]);
  expect(await database.knex('order_ranges').pluck('first_id')).toEqual([LAST * 1e12]);

  const env = { DATABASE_URL: database.directUrl };
  expect(await run(['migrate'], { ...env, INSTALLATION_NUMBER: '3' })).toMatchObject({
    code: 1,
    stderr: `This is the database of installation ${LAST}, which stays: set INSTALLATION_NUMBER to it, or leave it out.\n`,
  });
  for (const INSTALLATION_NUMBER of [String(LAST), undefined])
    expect(await run(['migrate'], { ...env, INSTALLATION_NUMBER })).toMatchObject({ code: 0 });
});

test('keys and URLs of sources carry the number; those of a moved account keep that of the installation they are from', async () => {
  const database = await createTestDatabase({ installation: LAST });
  const stack = await startStack(QUEUE_KIND, { database, queue: await startQueue(QUEUE_KIND, database.directUrl) });
  const address = 'https://orders.example.com';
  const { api } = await stack.intake({ INSTALLATIONS: `0=${address},${LAST}=https://orders-${LAST}.example.com` });
  const account = await stack.account();
  expect(account.key).toMatch(new RegExp(`^oik_${LAST}_[0-9A-Za-z]{49}$`));
  expect((await api.order(account, { source_order_id: 'A-1' })).status).toBe(202);
  const source = await createTestSource(stack, account, 'shopify');
  expect(source.source_id).toMatch(new RegExp(`^src_${LAST}_[0-9A-Za-z]{43}$`));
  const replaced = await replaceSourceId(database.db, account.id, source.source_number);
  expect(replaced?.source_id).toMatch(`src_${LAST}_`);
  expect(replaced?.source_id).not.toBe(source.source_id);
  const body = '{"id": 1}';
  expect((await deliver(api, replaced as Source, body, shopifyHeaders(body))).status).toBe(202);

  const old = { ...account, key: createApiKey() };
  const rejected = { status: 421, body: { code: 'wrong_installation', installation_url: address } };
  expect(await api.order(old, { source_order_id: 'A-2' })).toMatchObject(rejected);
  expect((await api.order({ ...account, key: createApiKey({ installation: LAST }) }, {})).status).toBe(401);
  await database
    .knex('api_keys')
    .where({ account_id: account.id })
    .update({ key_hash: hashApiKey(old.key) });
  expect((await api.order(old, { source_order_id: 'A-2' })).status).toBe(202);
  const moved = { ...source, source_id: createSourceId() };
  expect(await deliver(api, moved, body, shopifyHeaders(body))).toMatchObject(rejected);
  await database.knex('sources').update({ source_id: moved.source_id });
  expect((await deliver(api, moved, body, shopifyHeaders(body))).status).toBe(202);
});

test.each([
  '1',
  '1=orders.example.com',
  '1=https://a.example.com,1=https://b.example.com',
  '9000=https://a.example.com',
  '-1=https://a.example.com',
  '1=https://a.example.com/ingest/orders',
  '1=https://user:secret@a.example.com',
  '1=https://a.example.com,',
])('INSTALLATIONS=%s is rejected at the start', (INSTALLATIONS) => {
  const env = { DATABASE_URL: 'postgres://x', QUEUE_URL: 'redis://x', SECRETS_KEY: '0'.repeat(64), INSTALLATIONS };
  expect(() => readConfig(env)).toThrow(/^Configuration: INSTALLATIONS must be numbers from 0 to 8999 with addresses/);
});

test('a number that is no installation is refused before anything is made', async () => {
  const { stderr, code } = await run(['migrate'], {
    DATABASE_URL: 'postgres://localhost/none',
    INSTALLATION_NUMBER: '9000',
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining('INSTALLATION_NUMBER')]);
});
