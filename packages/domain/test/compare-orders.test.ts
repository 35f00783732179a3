import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mergeSent } from '../src/absent-fields.ts';
import { compareChangedDelivery, type Difference, isDeliveryChanged } from '../src/compare-orders.ts';
import { normalizeOrder, normalizeSent } from '../src/normalize-order.ts';
import type { Item, Order } from '../src/order.ts';
import { mutatedOrder } from './arbitrary-payload.ts';

type Payload = Record<string, unknown>;
type Row = [string, Payload, Payload, Difference[]];

const FIRST = {
  customer: { name: 'Aisha Khan', phone: '050 123 4567', email: 'aisha@example.com' },
  address: 'Apt 1204, Marina Heights',
  emirate: 'Dubai',
  items: [
    { name: 'Shawarma', quantity: 2, sku: 'SH-1' },
    { name: 'Karak', quantity: 1 },
  ],
  total: '149.50',
};
const SHAWARMA = { name: 'Shawarma', quantity: 2, sku: 'SH-1' };
const KARAK = { name: 'Karak', quantity: 1, sku: null };

const compare = (first: Payload, resent: Payload) =>
  compareChangedDelivery(
    normalizeOrder({ source_order_id: 'id', ...first }).order,
    normalizeSent({ source_order_id: 'id', ...resent }),
  );

describe('the differences of an order that was sent again are', () => {
  test.each<Row>([
    ['nothing, word for word', {}, {}, []],
    ['nothing, in other spellings', { customer: { ...FIRST.customer, phone: '+971-50-1234567' } }, {}, []],
    ['nothing, as a number and as a string', { total: 149.5 }, {}, []],
    ['nothing, by a member that nobody knows', { colour: 'red' }, {}, []],
    [
      'a phone number',
      {},
      { customer: { ...FIRST.customer, phone: '0501234568' } },
      [{ pointer: '/customer/phone', from: '+971501234567', to: '+971501234568' }],
    ],
    [
      'an emirate, and its code',
      {},
      { emirate: 'Sharjah' },
      [
        { pointer: '/emirate', from: 'Dubai', to: 'Sharjah' },
        { pointer: '/emirate_code', from: 'AE-DU', to: 'AE-SH' },
      ],
    ],
    ['a total', {}, { total: '149.51' }, [{ pointer: '/total', from: '149.50', to: '149.51' }]],
    ['no total any more', {}, { total: null }, [{ pointer: '/total', from: '149.50', to: null }]],
    [
      'an item, member by member',
      {},
      { items: [SHAWARMA, { name: 'Karak', quantity: 3, sku: 'K-1' }] },
      [
        { pointer: '/items/1/quantity', from: 1, to: 3 },
        { pointer: '/items/1/sku', from: null, to: 'K-1' },
      ],
    ],
    ['fewer items', {}, { items: [KARAK] }, [{ pointer: '/items', from: [SHAWARMA, KARAK], to: [KARAK] }]],
  ])('%s', (_, first, resent, expected) => {
    expect(compare({ ...FIRST, ...first }, { ...FIRST, ...resent })).toEqual(expected);
  });

  test('a different source_order_id is not a change', () => {
    expect(compare({ order_number: '1' }, { order_number: '1', source_order_id: 'other' })).toEqual([]);
  });
});

describe('changes that are too long to keep', () => {
  const item = { name: 'x'.repeat(40), quantity: 1, sku: null };
  const items = (count: number) => Array.from({ length: count }, () => item);
  const cut = (pointer: string) => ({ pointer, from: null, to: null, cut: true });

  test('are left out, longest first, and short ones stay', () => {
    expect(compare({ items: items(2000), total: 1 }, { items: [], total: 2 })).toEqual([
      cut('/items'),
      { pointer: '/total', from: '1', to: '2' },
    ]);
  });

  test('are left out if many items changed', () => {
    const changed = items(2000).map((one) => ({ ...one, quantity: 2 }));
    expect(compare({ items: items(2000) }, { items: changed })).toEqual([cut('/items')]);
    expect(compare({ items: items(300) }, { items: changed.slice(0, 300) })).toHaveLength(300);
  });
});

describe('of more than 1,000 items', () => {
  const named = (count: number, last = 'x') =>
    Array.from({ length: count }, (_, index) => ({ name: index === count - 1 ? last : 'x', quantity: 1, sku: null }));
  const sent = (items: Item[]) => normalizeSent({ source_order_id: 'id', items });
  const read = (items: Item[]) => sent(items).order;

  test('only the first 1,000 are compared', () => {
    expect(compareChangedDelivery(read(named(1_500)), sent(named(1_500, 'y')))).toEqual([]);
    expect(compareChangedDelivery(read(named(1_500)), sent(named(2_000)))).toEqual([]);
    const [one] = compareChangedDelivery(read(named(1_000)), sent([...named(1_000, 'y'), ...named(9)]));
    expect(one).toEqual({ pointer: '/items/999/name', from: 'x', to: 'y' });
  });

  test('an order stored with all items equals the same order read with the first 1,000', () => {
    const old: Order = { ...read([]), items: named(50_000, 'y') };
    expect(compareChangedDelivery(old, sent(named(50_000)))).toEqual([]);
    expect(isDeliveryChanged(old, sent(named(50_000)))).toBe(false);
  });
});

describe('a changed delivery that leaves fields out', () => {
  const removal = (pointer: string, from: Difference['from'], to: Difference['to'] = null) => [{ pointer, from, to }];
  const both = { customer: { name: 'Aisha', phone: '0501234567' } };

  test.each<Row>([
    ['changes none of them', FIRST, { address: FIRST.address }, []],
    ['keeps an order number that it does not repeat', { order_number: '#7' }, {}, []],
    ['keeps the items', FIRST, { total: '149.50' }, []],
    ['removes items with an empty list', { items: [KARAK] }, { items: [] }, removal('/items', [KARAK], [])],
    ['removes items with null', { items: [KARAK] }, { items: null }, removal('/items', [KARAK], [])],
    ['removes a field with null', FIRST, { address: null }, removal('/address', FIRST.address)],
    ['removes a field with an empty text', FIRST, { address: ' ' }, removal('/address', FIRST.address)],
    ['keeps the other fields of the customer', both, { customer: { name: 'Aisha' } }, []],
    ['removes one of them with null', both, { customer: { phone: null } }, removal('/customer/phone', '+971501234567')],
    ['keeps a phone that a customer as text does not have', both, { customer: 'Aisha' }, []],
    ['removes the customer with null', { customer: 'Aisha' }, { customer: null }, removal('/customer/name', 'Aisha')],
    ['keeps the currency', { total: '5', currency: 'USD' }, { total: '5' }, []],
    [
      'takes the currency beside the total',
      { total: '5', currency: 'USD' },
      { total: 'AED 5' },
      [{ pointer: '/currency', from: 'USD', to: 'AED' }],
    ],
    [
      'keeps the emirate, also if the same address names another one',
      { emirate: 'Dubai', address: 'Villa 3, Sharjah' },
      { address: 'Villa 3, Sharjah' },
      [],
    ],
    [
      'takes the emirate of another address',
      { emirate: 'Dubai', address: 'Villa 3' },
      { address: 'Villa 4, Sharjah' },
      [
        { pointer: '/address', from: 'Villa 3', to: 'Villa 4, Sharjah' },
        { pointer: '/emirate', from: 'Dubai', to: 'Sharjah' },
        { pointer: '/emirate_code', from: 'AE-DU', to: 'AE-SH' },
      ],
    ],
    ['keeps the area beside the same emirate', { emirate: 'Dubai', area: 'Marina' }, { emirate: 'Dubai' }, []],
  ])('%s', (_, first, resent, expected) => {
    expect(compare(first, resent)).toEqual(expected);
  });
});

test('the differences from a to b are the reverse of those from b to a, and an order equals itself', () => {
  const read = (payload: unknown) => normalizeOrder({ source_order_id: 'id', ...(payload as Payload) }).order;
  fc.assert(
    fc.property(mutatedOrder, mutatedOrder, (one, other) => {
      expect(compare(one as Payload, one as Payload)).toEqual([]);
      const forward = compareChangedDelivery(read(one), { order: read(other), absent: [] });
      const backward = compareChangedDelivery(read(other), { order: read(one), absent: [] });
      expect(backward).toEqual(forward.map(({ pointer, from, to }) => ({ pointer, from: to, to: from })));
    }),
  );
});

test('an order that took over a changed delivery has no difference from it, and keeps what the changed delivery does not mention', () => {
  fc.assert(
    fc.property(mutatedOrder, mutatedOrder, (one, other) => {
      const { order } = normalizeSent({ ...(one as Payload), source_order_id: 'id' });
      const sent = normalizeSent({ ...(other as Payload), source_order_id: 'id' });
      const merged = mergeSent(order, sent);
      expect(compareChangedDelivery(merged, sent)).toEqual([]);
      if (sent.absent.includes('/address')) expect(merged.address).toBe(order.address);
      if (sent.absent.includes('/items')) expect(merged.items).toBe(order.items);
    }),
  );
});
