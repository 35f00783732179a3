import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../src/normalize-order.ts';
import { blockersOf, severityOf, severityOfWarning } from '../src/severity.ts';

const DELIVERABLE = {
  source_order_id: 'id',
  customer: { phone: '050 123 4567' },
  address: 'Apt 4',
  emirate: 'Dubai',
  items: [{ name: 'Karak', quantity: 1 }],
};
const read = (payload: object) => normalizeOrder({ ...DELIVERABLE, ...payload });

describe('an order cannot be delivered', () => {
  test.each<[string, object, string[]]>([
    ['without a phone number', { customer: {} }, ['no_reachable_phone']],
    ['with a phone number that is none', { customer: { phone: 'call me' } }, ['no_reachable_phone']],
    ['without an address', { address: ' ' }, ['no_address']],
    ['with an unknown emirate', { emirate: 'Atlantis' }, ['no_emirate']],
    ['without items', { items: [] }, ['no_items']],
    ['with items that have neither a name nor an SKU', { items: [{ quantity: 2 }] }, ['no_items']],
    [
      'for several reasons',
      { customer: null, address: null, emirate: null, items: null },
      ['no_reachable_phone', 'no_address', 'no_emirate', 'no_items'],
    ],
  ])('%s', (_, payload, expected) => {
    const { order, warnings } = read(payload);
    expect([blockersOf(order), severityOf(order, warnings)]).toEqual([expected, 'blocks']);
  });

  test.each([
    ['a number with an extension', { customer: { phone: '04 765 4321 ext. 12' } }],
    ['a number of another country', { customer: { phone: '+1 202 555 0100' } }],
    ['an item with only an SKU', { items: [{ sku: 'K-1' }] }],
  ])('but it can be with %s', (_, payload) => {
    expect(blockersOf(read(payload).order)).toEqual([]);
  });
});

test.each<[string, object, string]>([
  ['none without a warning', {}, 'none'],
  ['corrected with certain corrections only', { items: [{ name: 'Karak', quantity: '2' }] }, 'corrected'],
  ['check with a guess', { total: '20 KWD', currency: 'AED' }, 'check'],
  ['check with the worst of several warnings', { items: [{ name: 'Karak', quantity: '2' }], extra: 1 }, 'check'],
  ['blocks before all others', { extra: 1, address: null }, 'blocks'],
])('the severity of an order is %s', (_, payload, expected) => {
  const { order, warnings } = read(payload);
  expect(severityOf(order, warnings)).toBe(expected);
});

test('a warning of another version must be checked', () => {
  expect(severityOfWarning('code_of_tomorrow')).toBe('check');
});
