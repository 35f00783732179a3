import { expect, test } from '@jest/globals';
import { setSuspended } from '@orders/database/accounts/accounts.ts';
import { batchKey } from '@orders/order-files/batch-key.ts';
import { until } from '@orders/test-services/until.ts';
import { lockTables } from '../harness/barriers.ts';
import { openShop, type Shop } from '../harness/people.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, portal, shop } = useStack({
  intake: true,
  worker: true,
  portal: true,
  shop: 'each test',
});

const texts = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => JSON.stringify({ source_order_id: `${prefix}-${index}` }));
const upload = (shop: Shop, orders: readonly string[], first_position = 1) =>
  shop.post('/uploads/orders', { first_position, orders });
const idsIn = (results: { receipt_id: string }[]) => results.map(({ receipt_id }) => receipt_id);
const uploadsOf = ({ account }: Shop) =>
  knex('audit_events').where({ account_id: account.id, action: 'orders_uploaded' }).orderBy('event_id');

async function outcomesOf(shop: Shop, receipt_ids: string[]) {
  return until('the outcomes are final', async () => {
    const { body } = await shop.post('/uploads/outcomes', { receipt_ids });
    const isFinal = ({ state }: { state: string }) => ['written', 'duplicate', 'dead'].includes(state);
    return body.outcomes.every(isFinal) && body.outcomes;
  });
}

test('a batch is stored and processed; sent again it is replayed, and one order that is wrong is rejected alone', async () => {
  const [first = '', second = ''] = texts('file', 2);
  const orders = [first, '{"customer":"nobody"}', 'no JSON', second];
  const { status, body } = await upload(shop, orders);
  expect(status).toBe(202);
  expect(body.results).toEqual([
    { receipt_id: expect.any(String) },
    { error: expect.objectContaining({ status: 422, code: 'validation_failed', errors: [expect.anything()] }) },
    { error: expect.objectContaining({ status: 400, code: 'malformed_body' }) },
    { receipt_id: expect.any(String) },
  ]);
  const [one, , , two] = body.results;
  expect(await outcomesOf(shop, [one.receipt_id, two.receipt_id])).toEqual(
    expect.arrayContaining([
      { receipt_id: one.receipt_id, state: 'written', error_code: null, differs: false, order_id: expect.any(Number) },
      { receipt_id: two.receipt_id, state: 'written', error_code: null, differs: false, order_id: expect.any(Number) },
    ]),
  );
  expect((await upload(shop, orders)).body.results).toEqual([
    { ...one, duplicate: true },
    body.results[1],
    body.results[2],
    { ...two, duplicate: true },
  ]);
  expect(await uploadsOf(shop)).toMatchObject([
    { subject: `account:${shop.account.id}`, details: { count: 2, first_position: 1 } },
  ]);
});

test('a file has the same keys as with orders send, so either replays the other', async () => {
  const orders = texts('both', 3);
  const key = batchKey(orders, 7, { strict: false, webhook: false, round: 0 });
  const sent = await api.batch(
    shop.account,
    orders.map((order) => JSON.parse(order)),
    { 'Idempotency-Key': key },
  );
  const uploaded = await upload(shop, orders, 7);
  expect(idsIn(uploaded.body.results)).toEqual(idsIn(sent.body.results));
  // At another position it is another request.
  expect(idsIn((await upload(shop, orders, 8)).body.results)).not.toEqual(idsIn(sent.body.results));
});

test('the same batch from two tabs at the same moment is stored once', async () => {
  const orders = texts('twice', 600);
  const [one, two] = await Promise.all([upload(shop, orders), upload(shop, orders)]);
  expect([one.status, two.status]).toEqual([202, 202]);
  expect(idsIn(one.body.results)).toEqual(idsIn(two.body.results));
  const [row] = await knex('receipts').where({ account_id: shop.account.id }).count();
  expect(Number(row?.count)).toBe(600);
  expect(await uploadsOf(shop)).toMatchObject([{ details: { count: 600 } }]);
});

test('the outcome tells an order that is known with other content, and nothing of another account', async () => {
  const other = await openShop(stack, portal);
  const order = (total: string) => JSON.stringify({ source_order_id: 'changes', total });
  const [first] = idsIn((await upload(shop, [order('1')])).body.results);
  await outcomesOf(shop, [first as string]);
  const [second] = idsIn((await upload(shop, [order('2')])).body.results);
  expect(await outcomesOf(shop, [second as string])).toMatchObject([{ state: 'duplicate', differs: true }]);
  expect(await outcomesOf(other, [first as string, second as string])).toEqual([]);
});

test('the preview shows the first orders as they would be written, and stores nothing', async () => {
  const { status, body } = await shop.post('/uploads/preview', {
    orders: ['{"source_order_id":"p-1","customer":{"phone":"0501234567"},"emirate":"Sharjha"}', '{}'],
  });
  expect(status).toBe(200);
  expect(body.previews).toEqual([
    {
      order: expect.objectContaining({
        emirate: 'Sharjah',
        customer: expect.objectContaining({ phone: '+971501234567' }),
      }),
      warnings: [expect.objectContaining({ pointer: '/emirate' })],
    },
    { error: expect.objectContaining({ code: 'validation_failed' }) },
  ]);
  expect(await knex('receipts').where({ account_id: shop.account.id })).toEqual([]);
});

test('a request has at most 1,000 orders and 2,200 kB, and an order that is too long is rejected alone', async () => {
  expect((await upload(shop, texts('many', 1001))).body.code).toBe('invalid_request');
  expect((await upload(shop, ['x'.repeat(2_300_000)])).body.code).toBe('payload_too_large');
  const long = JSON.stringify({ source_order_id: 'long', address: 'x'.repeat(262_144) });
  const { body } = await upload(shop, [long, ...texts('short', 1)]);
  expect(body.results).toMatchObject([{ error: { status: 413 } }, { receipt_id: expect.any(String) }]);
});

test('an account has two uploads at a time, and another account does not wait for them', async () => {
  const other = await openShop(stack, portal);
  const held = await lockTables(knex, 'idempotency_keys');
  const waiting = [0, 1].map((number) => upload(shop, texts(`held-${number}`, 1)));
  const rejected = await until('a third one is rejected', async () => {
    const { body } = await shop.post('/uploads/outcomes', { receipt_ids: ['019be0e0-0000-7000-8000-000000000000'] });
    return body.code;
  });
  expect(rejected).toBe('rate_limited');
  const others = await other.post('/uploads/preview', { orders: texts('other', 1) });
  expect(others.status).toBe(200);
  await held.release();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([202, 202]);
});

test('a suspended account takes no file, also from an operator', async () => {
  await setSuspended(db, shop.account.id, true);
  expect((await upload(shop, texts('suspended', 1))).body.code).toBe('account_suspended');
});
