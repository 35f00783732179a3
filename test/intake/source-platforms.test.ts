import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { listOrders } from '@orders/cli/list-orders.ts';
import { type OrderJson, toOrder } from '@orders/database/orders/order-rows.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import type { SourcePreset } from '@orders/domain/sources/settings.ts';
import {
  createTestSource,
  deliver,
  RECORDED_ORDERS,
  readDeliveryFixture,
  SOURCE_SECRET,
  sallaHeaders,
  shopifyHeaders,
  standardHeaders,
  wooCommerceHeaders,
  zidHeaders,
} from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

const STANDARD_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const HEADERS: Record<string, (body: Buffer, topic: string) => Record<string, string>> = {
  shopify: shopifyHeaders,
  woocommerce: wooCommerceHeaders,
  salla: (body) => sallaHeaders(body),
  zid: () => zidHeaders(),
  'standard-webhooks': (body) => standardHeaders(body, STANDARD_SECRET),
};

const { stack, knex, db, api, account } = useStack({ intake: true, worker: true, account: 'each test' });

function openSource(preset: SourcePreset): Promise<Source> {
  return createTestSource(stack, account, preset, preset === 'standard-webhooks' ? { secret: STANDARD_SECRET } : {});
}

/** Sends a recorded delivery as its platform does, with other headers if given. */
function send(source: Source, name: string, topic: string, own: Record<string, string> = {}) {
  const preset = source.preset as SourcePreset;
  const body = readDeliveryFixture(`${preset}/${name}`);
  return deliver(api, source, body, { ...HEADERS[preset]?.(body, topic), ...own });
}

/** Sends a recorded delivery and waits for its receipt. */
async function take(source: Source, name: string, topic: string) {
  const { status, body } = await send(source, name, topic);
  expect(status).toBe(202);
  return (await api.final(account, body.receipt_id)).body;
}

async function readOrder() {
  const orders = await listOrders(db, { accountId: account.id });
  expect(orders).toHaveLength(1);
  return orders[0];
}

// The shop has finished the order of this recording.
test.each(RECORDED_ORDERS.filter(({ delivery }) => delivery !== 'shopify/shipments'))(
  '$delivery becomes exactly the recorded order',
  async ({ delivery, topic, order, warnings }) => {
    const [preset, name] = delivery.split('/') as [SourcePreset, string];
    const source = await openSource(preset);
    expect(await take(source, name, topic)).toMatchObject({ status: 'written' });
    const stored = (await readOrder()) as OrderJson;
    expect(toOrder(stored)).toEqual({ ...order, source_order_id: `${source.id_prefix}:${order.source_order_id}` });
    expect(stored.warnings.map(({ code }) => code)).toEqual(warnings);
  },
);

describe('a changed order is a changed delivery with its changes', () => {
  const fewer = { pointer: '/items/0/quantity', from: 2, to: 1 };
  const cheaper = { pointer: '/total', from: '300.00', to: '180.00' };
  const otherShade = [
    { ...cheaper, to: '325.00' },
    { pointer: '/items/1/name', from: 'Linen shade', to: 'Silk shade' },
    { pointer: '/items/1/sku', from: 'SHADE-1', to: 'SHADE-2' },
  ];
  test.each([
    ['shopify', 'refunded', 'orders/updated', [cheaper, fewer]],
    ['shopify', 'edited', 'orders/updated', otherShade],
    ['woocommerce', 'edited', 'order.updated', [cheaper, fewer]],
    // WooCommerce does not change items and total when it refunds.
    ['woocommerce', 'refunded', 'order.updated', []],
    ['salla', 'edited', 'order.products.updated', [{ pointer: '/total', from: '300', to: '180' }, fewer]],
    ['salla', 'status-updated', 'order.status.updated', [{ pointer: '/payment_state', from: 'unpaid', to: 'paid' }]],
    ['zid', 'edited', 'order.status.update', [cheaper, fewer]],
  ] as const)('%s, %s', async (preset, name, topic, changes) => {
    const source = await openSource(preset);
    await take(source, 'order', preset === 'shopify' ? 'orders/create' : 'order.created');
    expect(await take(source, name, topic)).toMatchObject({ status: 'duplicate', changes });
    await readOrder();
  });
});

test.each([
  ['is empty', ''],
  ['is null', null],
])(
  'a note of WooCommerce that %s later is removed; a field that is not sent is unchanged',
  async (_, customer_note) => {
    const source = await openSource('woocommerce');
    const take = async (order: object, topic: string) => {
      const body = JSON.stringify({ id: 5, number: '5', ...order });
      const { body: reply } = await deliver(api, source, body, wooCommerceHeaders(body, topic));
      return (await api.final(account, reply.receipt_id)).body;
    };
    await take({ customer_note: 'Knock twice', billing: { phone: '0501234567' } }, 'order.created');
    expect(await take({ customer_note }, 'order.updated')).toMatchObject({
      status: 'duplicate',
      changes: [{ pointer: '/delivery_instructions', from: 'Knock twice', to: null }],
    });
    expect(await take({}, 'order.updated')).toMatchObject({ status: 'duplicate', changes: [] });
  },
);

describe('the whole life of an order', () => {
  /** What a reply and the receipt behind it say. */
  async function deliverAs(source: Source, document: object) {
    const body = Buffer.from(JSON.stringify(document));
    const reply = await deliver(api, source, body, HEADERS[source.preset]?.(body, '') ?? {});
    if (reply.status !== 202) return reply.body.outcome;
    const { status, outdated, changes = [] } = (await api.final(account, reply.body.receipt_id)).body;
    return [
      outdated ? 'outdated' : status,
      ...changes.map(({ pointer, to }: { pointer: string; to: unknown }) => `${pointer} ${to}`),
    ];
  }
  const state = async () => {
    const order = await readOrder();
    return [order?.review_state, order?.payment_state];
  };

  test('of Salla: unpaid, paid, in work, cancelled, wanted again, delivered', async () => {
    const source = await openSource('salla');
    const { data } = JSON.parse(readDeliveryFixture('salla/order').toString());
    const happens = (minute: number, event: string, slug: string) => {
      const order = { ...data, payment_method: 'mada', status: { slug } };
      const created_at = `Sun Nov 01 2026 12:${minute}:00 GMT+0300`;
      const isActivity = event === 'order.status.updated';
      return deliverAs(source, { event, created_at, data: isActivity ? { id: minute, status: '', order } : order });
    };
    expect(await happens(15, 'order.created', 'payment_pending')).toEqual(['written']);
    expect(await state()).toEqual(['needs_review', 'unpaid']);
    expect(await happens(16, 'order.payment.updated', 'under_review')).toEqual(['duplicate', '/payment_state paid']);
    expect(await state()).toEqual(['needs_review', 'paid']);
    expect(await happens(17, 'order.status.updated', 'in_progress')).toEqual(['duplicate']);
    expect(await happens(16, 'order.updated', 'payment_pending')).toEqual(['outdated', '/payment_state unpaid']);
    expect(await state()).toEqual(['needs_review', 'paid']);
    expect(await happens(18, 'order.status.updated', 'canceled')).toBe('cancelled');
    expect(await happens(17, 'order.updated', 'in_progress')).toEqual(['outdated']);
    expect(await state()).toEqual(['cancelled', 'paid']);
    expect(await happens(19, 'order.status.updated', 'in_progress')).toEqual(['duplicate', '/cancelled false']);
    expect(await state()).toEqual(['needs_review', 'paid']);
    expect(await happens(20, 'order.status.updated', 'delivered')).toEqual(['duplicate', '/finished true']);
    expect(await happens(21, 'order.deleted', 'delivered')).toBe('cancelled');
    expect(await happens(22, 'shipment.created', 'delivered')).toBe('ignored');
  });

  test('of Zid: in cash, prepared, expired, and one that is delivered before it was ever sent', async () => {
    const source = await openSource('zid');
    const order = JSON.parse(readDeliveryFixture('zid/order').toString());
    const happens = (minute: number, code: string, more: object = {}) =>
      deliverAs(source, { ...order, order_status: { code }, updated_at: `2026-11-01 09:${minute}:00`, ...more });
    expect(await happens(15, 'new')).toEqual(['written']);
    expect(await state()).toEqual(['needs_review', 'cash_on_delivery']);
    expect(await happens(16, 'preparing')).toEqual(['duplicate']);
    expect(await happens(17, 'expired')).toBe('cancelled');
    expect((await state())[0]).toBe('cancelled');
    expect(await happens(18, 'delivered', { id: 2 })).toBe('finished');
  });
});

test.each([
  ['woocommerce', 'order.created', 'order.updated', { status: 'processing' }, { status: 'completed' }],
  [
    'shopify',
    'orders/create',
    'orders/updated',
    { financial_status: 'paid' },
    { financial_status: 'paid', fulfillment_status: 'fulfilled' },
  ],
] as const)(
  'an order that %s has finished is none unless it was sent before',
  async (preset, created, updated, open, finished) => {
    const source = await openSource(preset);
    const deliverAs = (topic: string, order: object) => {
      const body = JSON.stringify({ ...order, line_items: [{ name: 'Lamp', quantity: 1 }] });
      const headers = preset === 'shopify' ? shopifyHeaders(body, topic) : wooCommerceHeaders(body, topic);
      return deliver(api, source, body, headers);
    };
    expect(await deliverAs(updated, { id: 70, ...finished })).toMatchObject({
      status: 200,
      body: { outcome: 'finished' },
    });
    const { body } = await deliverAs(created, { id: 71, ...open });
    expect((await api.final(account, body.receipt_id)).body).toMatchObject({ status: 'written' });
    const again = await deliverAs(updated, { id: 71, ...finished });
    expect((await api.final(account, again.body.receipt_id)).body).toMatchObject({
      status: 'duplicate',
      changes: [{ pointer: '/finished', from: false, to: true }],
    });
  },
);

test('an order that is not paid needs no review until it is, if the account chose so', async () => {
  const settings = { ...PRESETS.woocommerce.settings, waitUntilPaid: true };
  const source = await createTestSource(stack, account, 'woocommerce', { settings });
  const deliverAs = (order: object) => {
    const body = JSON.stringify({ id: 70, ...order });
    return deliver(api, source, body, wooCommerceHeaders(body, 'order.updated'));
  };
  const stateOf = async (order: object) => {
    const { body } = await deliverAs(order);
    const { status, order_state } = (await api.final(account, body.receipt_id)).body;
    return [status, order_state];
  };
  expect(await stateOf({ status: 'pending' })).toEqual(['written', 'awaiting_payment']);
  expect(await stateOf({ status: 'failed' })).toEqual(['duplicate', 'awaiting_payment']);
  expect(await stateOf({ status: 'processing' })).toEqual(['duplicate', 'needs_review']);
  expect(await readOrder()).toMatchObject({ payment_state: 'paid' });
  expect(await stateOf({ id: 71, status: 'on-hold', payment_method: 'cod' })).toEqual(['written', 'needs_review']);
});

test('a test notification of Shopify is a test', async () => {
  const source = await openSource('shopify');
  const body = JSON.stringify({ id: 820982911946154500, test: true, cancelled_at: '2021-12-31T19:00:00-05:00' });
  const reply = await deliver(api, source, body, shopifyHeaders(body, 'orders/create'));
  expect((await api.final(account, reply.body.receipt_id)).body).toMatchObject({ order_state: 'needs_review' });
  expect(await knex('orders').where({ account_id: account.id })).toMatchObject([{ is_test: true }]);
});

describe('topics', () => {
  test.each([
    ['shopify', 'refund', 'refunds/create'],
    ['shopify', 'order', 'orders/paid'],
    ['woocommerce', 'deleted', 'order.deleted'],
    ['woocommerce', 'restored', 'order.restored'],
  ] as const)('%s, %s as %s is ignored', async (preset, name, topic) => {
    const reply = await send(await openSource(preset), name, topic);
    expect(reply).toMatchObject({ status: 200, body: { outcome: 'ignored' } });
    expect(await listOrders(db, { accountId: account.id })).toEqual([]);
  });

  const CANCELLATIONS = [
    ['shopify', 'orders/create', 'orders/cancelled'],
    ['shopify', 'orders/create', 'orders/updated'],
    ['woocommerce', 'order.created', 'order.updated'],
    ['salla', 'order.created', 'order.cancelled'],
    ['zid', 'order.create', 'order.status.update'],
  ] as const;

  test.each(CANCELLATIONS)('%s: an order of %s is cancelled by %s', async (preset, created, cancelled) => {
    const source = await openSource(preset);
    await take(source, 'order', created);
    expect(await send(source, 'cancelled', cancelled)).toMatchObject({ status: 200, body: { outcome: 'cancelled' } });
    expect(await readOrder()).toMatchObject({ review_state: 'cancelled' });
  });

  test.each(CANCELLATIONS)(
    '%s: an order of %s after %s is written as cancelled',
    async (preset, created, cancelled) => {
      const source = await openSource(preset);
      expect(await send(source, 'cancelled', cancelled)).toMatchObject({ status: 200, body: { outcome: 'held' } });
      expect(await take(source, 'order', created)).toMatchObject({ status: 'written', order_state: 'cancelled' });
      expect(await readOrder()).toMatchObject({ review_state: 'cancelled' });
    },
  );

  test('a captured delivery of Shopify, sent again as orders/cancelled, cancels nothing: its topic is not signed', async () => {
    const source = await openSource('shopify');
    await take(source, 'order', 'orders/create');
    expect(await take(source, 'order', 'orders/cancelled')).toMatchObject({
      status: 'duplicate',
      changes: [],
      order_state: 'needs_review',
    });
  });

  test.each([
    ['salla', 'with another secret', (body: Buffer) => sallaHeaders(body, 'another secret')],
    ['salla', 'by its strategy Token', () => ({ Authorization: SOURCE_SECRET })],
    ['zid', 'with another password', () => zidHeaders('another secret')],
    ['zid', 'with the password as a token', () => ({ Authorization: `Bearer ${SOURCE_SECRET}` })],
  ] as const)('a delivery to a source of %s %s is rejected', async (preset, _, headersOf) => {
    const body = readDeliveryFixture(`${preset}/order`);
    const reply = await deliver(api, await openSource(preset), body, headersOf(body));
    expect(reply.status).toBe(401);
  });

  test('the ping of WooCommerce, unsigned and form-encoded, gets 200', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const reply = await deliver(api, await openSource('woocommerce'), 'webhook_id=1', form);
    expect(reply).toMatchObject({ status: 200, body: { outcome: 'ping' } });
  });
});

describe('a repeated delivery', () => {
  test('of Shopify, with the same X-Shopify-Webhook-Id, has the same receipt', async () => {
    const source = await openSource('shopify');
    const id = { 'X-Shopify-Webhook-Id': randomUUID() };
    const first = await send(source, 'order', 'orders/create', id);
    const again = await send(source, 'order', 'orders/create', id);
    expect(again).toMatchObject({ status: 202, body: { receipt_id: first.body.receipt_id, duplicate: true } });
  });

  test('of Standard Webhooks, signed again, has the same receipt', async () => {
    const source = await openSource('standard-webhooks');
    const body = readDeliveryFixture('standard-webhooks/order');
    const at = (seconds: number) =>
      standardHeaders(body, STANDARD_SECRET, 'msg_2', new Date(Date.now() - seconds * 1000));
    const first = await deliver(api, source, body, at(120));
    expect(await deliver(api, source, body, at(0))).toMatchObject({
      status: 202,
      body: { receipt_id: first.body.receipt_id, duplicate: true },
    });
  });

  test('two orders of WooCommerce in one second, with the same X-WC-Webhook-Delivery-ID, are two orders', async () => {
    const source = await openSource('woocommerce');
    const id = { 'X-WC-Webhook-Delivery-ID': '8f2b51d266e6ffaf7948dd5e2769e907' };
    const replies = [
      await send(source, 'order', 'order.created', id),
      await send(source, 'guest', 'order.created', id),
    ];
    for (const { body } of replies) await api.final(account, body.receipt_id);
    const orders = await listOrders(db, { accountId: account.id });
    expect(new Set(orders.map(({ source_order_id }) => source_order_id))).toEqual(
      new Set(['my-woocommerce:731', 'my-woocommerce:732']),
    );
  });
});
