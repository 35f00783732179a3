import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../../src/normalize-order.ts';
import { mapOrder, mapWithEmpty } from '../../src/sources/map-order.ts';
import type { Conditions, EntriesValue, OrderMapping } from '../../src/sources/mapping.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import { readMapping } from '../../src/sources/read-mapping.ts';

/** Maps a document with a mapping that a source could have. */
const map = (document: object, mapping: Partial<OrderMapping>) =>
  mapOrder(document, readMapping({ source_order_id: '/id', ...mapping }));

describe('a condition', () => {
  test.each<[string, unknown, Conditions[string], boolean]>([
    ['a text', 'cod', ['cod'], true],
    ['a text in other case, with spaces', ' COD ', ['cod'], true],
    ['one of several', 'cash', ['cod', 'cash'], true],
    ['another text', 'card', ['cod'], false],
    ['a number, of a number', 100, [100], true],
    ['a number, of its text', '100', [100], true],
    ['true, of true', true, [true], true],
    ['true, of its text', 'true', [true], true],
    ['true, of one', 1, [true], false],
    ['null, of nothing', undefined, [null], true],
    ['null, of null', null, [null], true],
    ['null, of a blank text', ' ', [null], true],
    ['null, of zero', 0, [null], false],
    ['a text, of an object', { a: 'cod' }, ['cod'], false],
  ])('for %s', (_, value, values, holds) => {
    const constant = { constant: 'yes', if: { '/a': values } };
    expect(map({ id: '1', a: value }, { area: constant }).area).toBe(holds ? 'yes' : undefined);
  });

  test('must hold with all others; then the next value counts', () => {
    const both = { constant: 'both', if: { '/a': [1], '/b': [2] } };
    const area = [both, { constant: 'else' }];
    expect(map({ id: '1', a: 1, b: 2 }, { area }).area).toBe('both');
    expect(map({ id: '1', a: 1, b: 3 }, { area }).area).toBe('else');
  });
});

test('a constant does not count if one of its exceptions holds', () => {
  const paid = { constant: 'paid', if: { '/kind': ['order'] }, except: { '/paid_at': [null], '/state': ['void'] } };
  const stateOf = (document: object) => map({ id: '1', kind: 'order', ...document }, { payment_state: paid });
  expect(stateOf({ paid_at: '2026-11-20' }).payment_state).toBe('paid');
  expect(stateOf({})).not.toHaveProperty('payment_state');
  expect(stateOf({ paid_at: '2026-11-20', state: 'void' })).not.toHaveProperty('payment_state');
  expect(stateOf({ paid_at: '2026-11-20', kind: 'cart' })).not.toHaveProperty('payment_state');
});

test('an entry without a value gives way to the next', () => {
  const find = { find: '/meta', where: { '/key': ['date', 'pickup_date'] }, value: '/value' };
  const dated = (...values: unknown[]) =>
    mapWithEmpty(
      { id: '1', meta: values.map((value, index) => ({ key: index === 0 ? 'date' : 'pickup_date', value })) },
      { source_order_id: '/id', delivery_time: find },
    ).delivery_time;
  expect(dated('', 'tomorrow')).toBe('tomorrow');
  expect(dated('today', 'tomorrow')).toBe('today');
  expect(dated(' ', { day: 1 })).toBeNull();
  expect(dated({ day: 1 })).toBeUndefined();
});

test('all entries of a list are a part of a text, but not those that the platform keeps for itself', () => {
  const options = [
    { name: 'Size', value: 'L' },
    { name: 'Colour', value: '' },
    { name: '_bundle', value: 'x' },
    { name: 'Engraving', value: 'A. K.', hidden: true },
    'x',
    { value: 3 },
  ];
  const listed = { each: '/options', label: '/name', value: '/value' };
  const nameOf = (part: EntriesValue, separator = ', ') =>
    map(
      { id: '1', lines: [{ name: 'Ring', options }] },
      { items: { list: '/lines', name: { join: ['/name', part], separator } } },
    ).items;
  expect(nameOf(listed)).toEqual([{ name: 'Ring, Size: L, Engraving: A. K., 3' }]);
  expect(nameOf({ ...listed, except: { '/hidden': [true] } }, ' + ')).toEqual([{ name: 'Ring + Size: L + 3' }]);
  expect(nameOf({ each: '/options', value: '/value' })).toEqual([{ name: 'Ring, L, x, A. K., 3' }]);
  expect(nameOf({ each: '/none', value: '/value' })).toEqual([{ name: 'Ring' }]);
});

test('the first entry that meets all conditions is found, at any position, also as a part of a text', () => {
  const find = (name: string) => ({ find: '/notes', where: { '/name': [name] }, value: '/value' });
  const notes = [
    null,
    'x',
    { name: 'Date', value: '' },
    { name: 'time', value: '10:00' },
    { name: 'Time', value: '11:00' },
  ];
  const both = { join: [find('Date'), find('Time'), '/zone'], separator: ', ' };
  expect(map({ id: '1', notes, zone: 'GST' }, { delivery_time: both }).delivery_time).toBe('10:00, GST');
  for (const other of [undefined, {}, 'Time', []])
    expect(map({ id: '1', notes: other }, { delivery_time: find('Time') })).not.toHaveProperty('delivery_time');
});

test('items are chosen by conditions', () => {
  const lines = [
    { id: 1, name: 'Box', parent: null },
    { id: 2, name: 'Lamp', parent: 1 },
    { id: 3, name: 'Tip' },
    { id: 4, name: 'Card', gift: true },
    { id: 5, name: 'Bulb', kind: 'free' },
  ];
  const names = (conditions: object) =>
    (map({ id: '1', lines }, { items: { list: '/lines', name: '/name', ...conditions } }).items as object[]).map(
      (item) => Object.values(item)[0],
    );
  expect(names({ only: { '/parent': [null] } })).toEqual(['Box', 'Tip', 'Card', 'Bulb']);
  expect(names({ except: { '/gift': [true], '/name': ['tip'], '/kind': ['free', 'gift'] } })).toEqual(['Box', 'Lamp']);
  expect(names({ only: { '/parent': [null] }, except: { '/gift': [true] } })).toEqual(['Box', 'Tip', 'Bulb']);
});

test.each([
  [15550, 2, 2, '155.50'],
  ['15550', '2', '/digits', '155.50'],
  [5, 2, 2, '0.05'],
  [15550, 0, '/digits', '15550'],
  [1500, 3, '/digits', '1.500'],
  [123456789012345, 2, 2, '1234567890123.45'],
  ['155.5', 2, 2, '1.555'],
  ['AED 5', 2, 2, undefined],
  [15550, 7, '/digits', undefined],
  [15550, null, '/digits', undefined],
  [null, 2, 2, null],
])('%p with %p digits is divided', (amount, digits, by_digits, total) => {
  expect(
    mapWithEmpty({ id: '1', amount, digits }, { source_order_id: '/id', total: { divide: '/amount', by_digits } })
      .total,
  ).toBe(total);
});

test('a constant can be a part of a text', () => {
  const area = { join: [{ constant: 'Zone' }, '/zone'] };
  expect(map({ id: '1', zone: 4 }, { area }).area).toBe('Zone 4');
});

/** The fields of an order of a platform that the driver needs beside the address. */
function facts(preset: 'shopify' | 'woocommerce', document: object) {
  const { order, warnings } = normalizeOrder(mapOrder({ id: 1, ...document }, PRESETS[preset].mapping));
  const { payment_state, delivery_time, delivery_method, details, items } = order;
  return {
    payment_state,
    delivery_time,
    delivery_method,
    details,
    items: items.map(({ name }) => name),
    codes: warnings.map(({ code }) => code),
  };
}

describe('WooCommerce', () => {
  // https://woocommerce.com/document/managing-orders/order-statuses
  test.each([
    ['pending', 'card', 'unpaid'],
    ['failed', 'card', 'unpaid'],
    ['on-hold', 'bacs', 'unpaid'],
    ['processing', 'card', 'paid'],
    ['processing', 'cod', 'cash_on_delivery'],
    ['completed', 'card', 'paid'],
    ['refunded', 'cod', 'refunded'],
    ['a-status-of-a-plugin', 'card', null],
  ])('the status %s with %s is %s', (status, payment_method, payment_state) => {
    expect(facts('woocommerce', { status, payment_method })).toMatchObject({ payment_state, codes: [] });
  });

  test('the day and time of common plugins are read, and entities in texts', () => {
    const meta_data = [
      { id: 1, key: 'x', value: 'y' },
      { id: 2, key: '_delivery_date', value: '2026-11-21' },
      { id: 3, key: 'Time Slot', value: '10:00 &ndash; 12:00' },
    ];
    const line_items = [{ name: 'Lamp &amp; shade &#8211; 30&Prime;', quantity: 1 }];
    expect(facts('woocommerce', { meta_data, line_items })).toMatchObject({
      delivery_time: '2026-11-21, 10:00 – 12:00',
      items: ['Lamp & shade – 30″'],
    });
  });
});

describe('Shopify', () => {
  // https://shopify.dev/docs/api/admin-rest/latest/resources/order
  test.each([
    ['pending', ['Cash on Delivery (COD)'], 'cash_on_delivery'],
    ['pending', ['bogus'], 'unpaid'],
    ['paid', ['Cash on Delivery (COD)'], 'paid'],
    ['authorized', ['shopify_payments'], 'paid'],
    ['partially_paid', ['shopify_payments'], 'unpaid'],
    ['partially_refunded', ['shopify_payments'], 'paid'],
    ['refunded', ['shopify_payments'], 'refunded'],
    ['voided', ['shopify_payments'], 'unpaid'],
    [null, [], null],
  ])('the financial status %s by %s is %s', (financial_status, payment_gateway_names, payment_state) => {
    const order = { financial_status, payment_gateway_names };
    expect(facts('shopify', order)).toMatchObject({ payment_state, codes: [] });
  });

  test('the date and time that were chosen in the cart are the time of delivery, and what else was chosen is a detail', () => {
    const note_attributes = [
      { name: 'Delivery-Time', value: '10:00 AM - 12:00 PM' },
      { name: 'Checkout-Method', value: 'pickup' },
      { name: 'Delivery-Date', value: '2026/11/21' },
    ];
    expect(facts('shopify', { note_attributes })).toMatchObject({
      delivery_time: '2026/11/21, 10:00 AM - 12:00 PM',
      delivery_method: 'pickup',
      details: 'Checkout-Method: pickup',
    });
  });

  test('tips and gift cards are not delivered', () => {
    const line_items = [
      { name: 'Brass lamp', quantity: 1, gift_card: false },
      { name: 'Tip', title: 'Tip', quantity: 1 },
      { name: 'Gift card - 100', quantity: 1, gift_card: true },
    ];
    expect(facts('shopify', { line_items }).items).toEqual(['Brass lamp']);
  });
});

test('an entity in an id stays', () => {
  expect(mapOrder({ id: 'A&amp;B' }, PRESETS.woocommerce.mapping).source_order_id).toBe('A&amp;B');
});

test('of a list of items, ten thousand entries are read at most', () => {
  const lines = [...Array(9_999).fill({ gift: true }), { name: 'Lamp' }, { name: 'Bulb' }];
  const items = { list: '/lines', name: '/name', except: { '/gift': [true] } };
  expect(map({ id: '1', lines }, { items }).items).toEqual([{ name: 'Lamp' }]);
});
