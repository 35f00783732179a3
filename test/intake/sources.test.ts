import { beforeAll, expect, test } from '@jest/globals';
import { redriveReceipts, setMapping } from '@orders/database';
import { PRESETS } from '@orders/domain';
import { createTestSource, deliver, shopifyHeaders, wooCommerceHeaders } from '../harness/sources.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';

let stack: Stack;
let intake: RunningIntake;
let account: TestAccount;

beforeAll(async () => {
  stack = await startStack('postgres');
  intake = await stack.intake();
  await stack.worker();
  account = await stack.account();
});

test('an order of Shopify becomes an order, with its number exact', async () => {
  const source = await createTestSource(stack, account, 'shopify');
  const body = '{"id": 820982911946154508, "name": "#1001", "line_items": [{"name": "Lamp", "quantity": 2}]}';
  const reply = await deliver(intake.api, source, body, shopifyHeaders(body));
  expect(reply).toMatchObject({ status: 202 });
  expect((await intake.api.final(account, reply.body.receipt_id)).body).toMatchObject({
    status: 'written',
    source_order_id: '820982911946154508',
    warnings: [],
  });
});

test('a cancelled order of WooCommerce is cancelled, and its ping gets 200', async () => {
  const source = await createTestSource(stack, account, 'woocommerce');
  const send = (body: string, topic?: string) => deliver(intake.api, source, body, wooCommerceHeaders(body, topic));
  const order = { id: 727, number: '727', status: 'processing', line_items: [] };
  const { body } = await send(JSON.stringify(order));
  await intake.api.final(account, body.receipt_id);
  expect(await send(JSON.stringify({ ...order, status: 'cancelled' }), 'order.updated')).toMatchObject({
    status: 200,
    body: { outcome: 'cancelled' },
  });
  const ping = { 'Content-Type': 'application/x-www-form-urlencoded' };
  expect(await deliver(intake.api, source, 'webhook_id=7', ping)).toMatchObject({ status: 200 });
});

test('an authentic delivery without an order id is stored as a dead receipt', async () => {
  const source = await createTestSource(stack, account, 'shopify');
  for (const body of ['{}', 'no JSON', '']) {
    const reply = await deliver(intake.api, source, body, shopifyHeaders(body));
    expect(reply).toMatchObject({ status: 202 });
    const status = await intake.api.final(account, reply.body.receipt_id);
    expect(status.body).toMatchObject({ status: 'dead', error: { code: 'mapping_failed' } });
  }
});

test('dead receipts are mapped again by a redrive once the mapping was corrected', async () => {
  const { knex } = stack.database;
  const source = await createTestSource(stack, account, 'shopify');
  const { source_number: sourceNumber } = source;
  const send = async (order: object, topic?: string) => {
    const body = JSON.stringify(order);
    return (await deliver(intake.api, source, body, shopifyHeaders(body, topic))).body.receipt_id as string;
  };
  const order = { order_key: 'K-1', name: '#7', line_items: [{ name: 'Lamp', quantity: 1 }] };
  const ids = [
    await send(order),
    await send({ order_key: 'K-1', cancelled_at: '2026-11-28T10:00:00Z' }, 'orders/cancelled'),
    await send({ other: 1 }),
  ];
  expect(await redriveReceipts(knex, ids, { accountId: account.id })).toEqual([]);

  const mapping = { ...PRESETS.shopify.mapping, source_order_id: '/order_key' };
  await setMapping(knex, { accountId: account.id, sourceNumber, mapping, by: 'tester' });
  expect(await redriveReceipts(knex, ids, { accountId: account.id })).toEqual(ids.slice(0, 2));
  const statusOf = async (id?: string) => (await intake.api.final(account, id as string)).body;
  expect(await statusOf(ids[0])).toMatchObject({ status: 'written', source_order_id: 'K-1', order_state: 'cancelled' });
  expect(await statusOf(ids[1])).toMatchObject({
    status: 'duplicate',
    source_order_id: 'K-1',
    order_state: 'cancelled',
  });
  expect(await statusOf(ids[2])).toMatchObject({ status: 'dead', error: { code: 'mapping_failed' } });
  const stored = await knex('orders').where({ account_id: account.id, source_order_id: 'K-1' });
  expect(stored).toMatchObject([{ order_number: '#7', reviewed_by: 'source:my shopify', items: [{ name: 'Lamp' }] }]);
});
