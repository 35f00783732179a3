import { beforeAll, describe, expect, test } from '@jest/globals';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { findDeliveries } from '@orders/database/sources/activity.ts';
import { setIdPrefix, setMapping } from '@orders/database/sources/change-sources.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { until } from '@orders/test-services/until.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { createTestSource, deliver, shopifyHeaders, wooCommerceHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, account } = useStack({ intake: true, worker: true, account: true });

test('an order of Shopify becomes an order, with its number exact', async () => {
  const source = await createTestSource(stack, account, 'shopify');
  const body = '{"id": 820982911946154508, "name": "#1001", "line_items": [{"name": "Lamp", "quantity": 2}]}';
  const reply = await deliver(api, source, body, shopifyHeaders(body));
  expect(reply).toMatchObject({ status: 202 });
  expect((await api.final(account, reply.body.receipt_id)).body).toMatchObject({
    status: 'written',
    source_order_id: 'my-shopify:820982911946154508',
    source: { name: 'my shopify', platform_id: '820982911946154508' },
    warnings: [],
  });
});

test('a cancelled order of WooCommerce is cancelled, and its ping gets 200', async () => {
  const source = await createTestSource(stack, account, 'woocommerce');
  const send = (body: string, topic?: string) => deliver(api, source, body, wooCommerceHeaders(body, topic));
  const order = { id: 727, number: '727', status: 'processing', line_items: [] };
  const { body } = await send(JSON.stringify(order));
  await api.final(account, body.receipt_id);
  expect(await send(JSON.stringify({ ...order, status: 'cancelled' }), 'order.updated')).toMatchObject({
    status: 200,
    body: { outcome: 'cancelled' },
  });
  const ping = { 'Content-Type': 'application/x-www-form-urlencoded' };
  expect(await deliver(api, source, 'webhook_id=7', ping)).toMatchObject({ status: 200 });
});

test('an authentic delivery without an order id is stored as a dead receipt', async () => {
  const source = await createTestSource(stack, account, 'shopify');
  for (const body of ['{}', 'no JSON', '']) {
    const reply = await deliver(api, source, body, shopifyHeaders(body));
    expect(reply).toMatchObject({ status: 202 });
    const status = await api.final(account, reply.body.receipt_id);
    expect(status.body).toMatchObject({ status: 'dead', error: { code: 'mapping_failed' } });
  }
});

test('dead receipts are mapped again by a redrive once the mapping was corrected', async () => {
  const source = await createTestSource(stack, account, 'shopify');
  const { source_number: sourceNumber } = source;
  const storedId = `${source.id_prefix}:K-1`;
  const send = async (order: object, topic?: string) => {
    const body = JSON.stringify(order);
    return (await deliver(api, source, body, shopifyHeaders(body, topic))).body.receipt_id as string;
  };
  const order = { order_key: 'K-1', name: '#7', line_items: [{ name: 'Lamp', quantity: 1 }] };
  const ids = [
    await send(order),
    await send({ order_key: 'K-1', cancelled_at: '2026-11-28T10:00:00Z' }, 'orders/cancelled'),
    await send({ other: 1 }),
  ];
  expect(await redriveReceipts(db, ids, { accountId: account.id })).toEqual([]);

  const mapping = { ...PRESETS.shopify.mapping, source_order_id: '/order_key' };
  await setMapping(db, { accountId: account.id, sourceNumber, mapping, by: 'tester' });
  expect(await redriveReceipts(db, ids, { accountId: account.id })).toEqual(ids.slice(0, 2));
  const statusOf = async (id?: string) => (await api.final(account, id as string)).body;
  expect(await statusOf(ids[0])).toMatchObject({
    status: 'written',
    source_order_id: storedId,
    order_state: 'cancelled',
  });
  expect(await statusOf(ids[1])).toMatchObject({
    status: 'duplicate',
    source_order_id: storedId,
    order_state: 'cancelled',
  });
  expect(await statusOf(ids[2])).toMatchObject({ status: 'dead', error: { code: 'mapping_failed' } });
  const stored = await knex('orders').where({ account_id: account.id, source_order_id: storedId });
  expect(stored).toMatchObject([{ order_number: '#7', reviewed_by: 'source:my shopify', items: [{ name: 'Lamp' }] }]);
});

describe('two sources of one account', () => {
  const openBoth = async () => {
    const own = await stack.account();
    const sources = [
      await createTestSource(stack, own, 'woocommerce'),
      await createTestSource(stack, own, 'woocommerce'),
    ] as const;
    return { own, sources };
  };
  const send = (source: Source, order: object, topic = 'order.created') => {
    const body = JSON.stringify(order);
    return deliver(api, source, body, wooCommerceHeaders(body, topic));
  };

  test('with the same id on their platforms make two orders, and each cancels its own', async () => {
    const { own, sources } = await openBoth();
    const written = [];
    for (const source of sources) {
      const { body } = await send(source, { id: 777, number: '777', status: 'processing' });
      written.push((await api.final(own, body.receipt_id)).body);
    }
    expect(written).toMatchObject([
      { status: 'written', source_order_id: 'my-woocommerce:777', source: { platform_id: '777' } },
      { status: 'written', source_order_id: 'my-woocommerce-2:777', source: { platform_id: '777' } },
    ]);
    const cancelled = await send(sources[1], { id: 777, status: 'cancelled' }, 'order.updated');
    expect(cancelled).toMatchObject({ status: 200, body: { outcome: 'cancelled' } });
    const orders = await knex('orders').where({ account_id: own.id }).orderBy('order_id');
    expect(orders).toMatchObject([
      { source_order_id: 'my-woocommerce:777', order_number: '777', review_state: 'needs_review' },
      { source_order_id: 'my-woocommerce-2:777', order_number: '777', review_state: 'cancelled' },
    ]);
    expect(await api.cancel(own, { source_order_id: 'my-woocommerce:777' })).toMatchObject({
      body: { outcome: 'cancelled', source_order_id: 'my-woocommerce:777' },
    });
  });

  test('an order without a number has the id of the platform as its number', async () => {
    const { own, sources } = await openBoth();
    const { body } = await send(sources[0], { id: 778 });
    await api.final(own, body.receipt_id);
    expect(await knex('orders').where({ account_id: own.id })).toMatchObject([
      { source_order_id: 'my-woocommerce:778', order_number: '778' },
    ]);
  });

  test.each([
    [255, 'written'],
    [256, 'dead'],
  ])('an id of %i characters with its prefix ends: %s', async (length, status) => {
    const { own, sources } = await openBoth();
    const id = 'x'.repeat(length - 'my-woocommerce:'.length);
    const { body } = await send(sources[0], { id });
    const receipt = (await api.final(own, body.receipt_id)).body;
    expect(receipt).toMatchObject({ status, source: { platform_id: status === 'written' ? id : null } });
    const error = { code: 'mapping_failed', detail: expect.stringContaining('With the prefix') };
    expect(receipt.error).toEqual(status === 'written' ? null : error);
  });

  test('a delivery that was read with an earlier prefix is stored with the present one, and fixes it', async () => {
    const { own, sources } = await openBoth();
    const { source_number: sourceNumber } = sources[0];
    // Intake caches the source with its first prefix.
    expect(await send(sources[0], { id: 1 }, 'order.deleted')).toMatchObject({ body: { outcome: 'ignored' } });
    const change = { accountId: own.id, sourceNumber };
    await setIdPrefix(db, { ...change, idPrefix: 'between' });
    const held = await hold(knex, `select from sources where source_number = ${sourceNumber} for update`);
    const sent = send(sources[0], { id: 1 });
    await whoWait(knex, 1, 'transactionid');
    const changing = setIdPrefix(db, { ...change, idPrefix: 'later' }).catch(({ code }) => code);
    await whoWait(knex, 1, 'tuple');
    await held.release();
    expect(await changing).toBe('id_prefix_fixed');
    expect((await api.final(own, (await sent).body.receipt_id)).body).toMatchObject({
      source_order_id: 'between:1',
    });
  });
});

/** A source without a prefix, so that an id may have 255 characters. */
let plain: Source;
beforeAll(async () => {
  plain = await createTestSource(stack, account, 'shopify', { idPrefix: '' });
});

async function sendAccepted(
  body: string | Buffer,
  headers: Record<string, string> = shopifyHeaders(body),
  source = plain,
) {
  const reply = await deliver(api, source, body, headers);
  expect(reply.status).toBe(202);
  return (await api.final(account, reply.body.receipt_id)).body;
}
const nested = (levels: number) => `{"id": 64, "a": ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

describe('a body becomes an order', () => {
  test.each<[string, string, string, string[]]>([
    ['with a member twice, by the last one', '{"id": 1, "id": 2}', '2', []],
    ['with members named __proto__', '{"__proto__": {"id": 5}, "id": 3, "customer": {"__proto__": 1}}', '3', []],
    ['with 64 levels', nested(64), '64', []],
    ['with a byte order mark', '\uFEFF{"id": 4}', '4', []],
    ['with U+0000', '{"id": 5, "name": "a\\u0000b"}', '5', ['characters_removed']],
    ['with half of a surrogate pair', '{"id": 6, "note": "a\\ud800"}', '6', ['characters_removed']],
    ['with an id of 255 digits', `{"id": ${'9'.repeat(255)}}`, '9'.repeat(255), []],
    ['with a text of 250,000 characters', `{"id": 7, "note": "${'y'.repeat(250_000)}"}`, '7', ['too_long']],
    ['with 80,000 items', `{"id": 8, "line_items": [${'{},'.repeat(80_000)}{}]}`, '8', ['too_many_items']],
    ['with items that are no objects', '{"id": 9, "line_items": [1, null, "a", []]}', '9', []],
  ])('%s', async (_name, body, id, codes) => {
    const { status, source_order_id, warnings } = await sendAccepted(body);
    expect([status, source_order_id]).toEqual(['written', id]);
    expect(warnings.map(({ code }: { code: string }) => code)).toEqual(codes);
  });
});

describe('a body is stored as a dead receipt', () => {
  test.each<[string, string | Buffer]>([
    ['with an id only in __proto__', '{"__proto__": {"id": 1}}'],
    ['with 65 levels', nested(65)],
    ['that is 100,000 brackets', '['.repeat(100_000)],
    ['that is not UTF-8', bytes('{"id": 1, "name": "', [0xff], '"}')],
    ['with an id of 256 characters', `{"id": "${'x'.repeat(256)}"}`],
    ['with a line break in its id', '{"id": "a\\nb"}'],
    ['with U+0000 in its id', '{"id": "a\\u0000b"}'],
    ['with half of a surrogate pair in its id', '{"id": "a\\ud800"}'],
    ['with a list as its id', '{"id": [1]}'],
    ['that is a list', '[{"id": 1}]'],
  ])('%s', async (_name, body) => {
    const { status, error } = await sendAccepted(body);
    expect([status, error.code]).toEqual(['dead', 'mapping_failed']);
  });
});

test('a delivery that is sent three times is one receipt and is listed once', async () => {
  const source = await createTestSource(stack, account, 'shopify');
  const body = '{"id": "repeated"}';
  const headers = shopifyHeaders(body);
  const sendAgain = () => sendAccepted(body, headers, source);
  const ids = [await sendAgain(), await sendAgain(), await sendAgain()];
  expect(new Set(ids.map(({ receipt_id }) => receipt_id)).size).toBe(1);
  const deliveries = () => findDeliveries(db, account.id, source.source_number, 10);
  const counted = () => knex('source_activity').where({ source_number: source.source_number }).first();
  await until('three are counted', async () => Number((await counted())?.count) === 3);
  expect(await deliveries()).toMatchObject([{ receipt_id: ids[0].receipt_id }]);
});

test('no Idempotency-Key of an order is the key of a delivery', async () => {
  const source = await createTestSource(stack, account, 'shopify');
  const key = `source-${source.source_number}:abc`;
  await api.order(account, { source_order_id: 'with a key' }, { 'Idempotency-Key': key });
  const body = '{"id": "not replaced"}';
  const delivered = await sendAccepted(body, { ...shopifyHeaders(body), 'X-Shopify-Webhook-Id': 'abc' }, source);
  expect(delivered).toMatchObject({ status: 'written', source_order_id: `${source.id_prefix}:not replaced` });
});
