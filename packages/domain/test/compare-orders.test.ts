import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  compareResent,
  type Difference,
  hasResentChanges,
  type Item,
  normalizeOrder,
  type Order,
} from '../src/index.ts';
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
  compareResent(
    normalizeOrder({ source_order_id: 'id', ...first }).order,
    normalizeOrder({ source_order_id: 'id', ...resent }).order,
  );

describe('the differences of a resent order are', () => {
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
    expect(compare({ items: items(2000), total: 1 }, { total: 2 })).toEqual([
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
  const read = (items: Item[]) => normalizeOrder({ source_order_id: 'id', items }).order;

  test('only the first 1,000 are compared', () => {
    expect(compareResent(read(named(1_500)), read(named(1_500, 'y')))).toEqual([]);
    expect(compareResent(read(named(1_500)), read(named(2_000)))).toEqual([]);
    const [one] = compareResent(read(named(1_000)), read([...named(1_000, 'y'), ...named(9)]));
    expect(one).toEqual({ pointer: '/items/999/name', from: 'x', to: 'y' });
  });

  test('an order stored with all items equals the same order read with the first 1,000', () => {
    const old: Order = { ...read([]), items: named(50_000, 'y') };
    expect(compareResent(old, read(named(50_000)))).toEqual([]);
    expect(hasResentChanges(old, read(named(50_000)))).toBe(false);
  });
});

test('the differences from a to b are the reverse of those from b to a, and an order equals itself', () => {
  fc.assert(
    fc.property(mutatedOrder, mutatedOrder, (one, other) => {
      expect(compare(one as Payload, one as Payload)).toEqual([]);
      const forward = compare(one as Payload, other as Payload);
      const backward = compare(other as Payload, one as Payload);
      expect(backward).toEqual(forward.map(({ pointer, from, to }) => ({ pointer, from: to, to: from })));
    }),
  );
});
