import { expect, test } from '@jest/globals';
import type { OrderEdits } from '../src/apply-edits.ts';
import { editOrder } from '../src/edit-order.ts';
import { normalizeOrder } from '../src/normalize-order.ts';

const [KARAK, WATER, TEA] = ['Karak', 'Water', 'Tea'].map((name) => ({ name, quantity: 1, sku: null }));
const items = [
  { name: 'Karak', quantity: '1' },
  { name: 'Water', quantity: 'x' },
];
const STORED = normalizeOrder({ source_order_id: 'id', items });
const editItems = (edits: OrderEdits) => {
  const { order, warnings } = editOrder(STORED, edits);
  return [order.items.map(({ name }) => name), warnings.map(({ pointer, code }) => `${pointer} ${code}`)];
};
const FIRST = '/items/0/quantity quantity_from_text';
const SECOND = '/items/1/quantity quantity_unreadable';

test.each<[string, OrderEdits, string[], string[]]>([
  ['appends one', { '/items/-': TEA }, ['Karak', 'Water', 'Tea'], [FIRST, SECOND]],
  ['removes one with its warnings', { '/items/1': null }, ['Karak'], [FIRST]],
  ['moves warnings with their items', { '/items/0': null }, ['Water'], ['/items/0/quantity quantity_unreadable']],
  [
    'inserts one before another',
    { '/items/1': TEA },
    ['Karak', 'Tea', 'Water'],
    [FIRST, '/items/2/quantity quantity_unreadable'],
  ],
  ['removes and appends', { '/items/0': null, '/items/1': null, '/items/-': TEA }, ['Tea'], []],
  ['edits a member of one and removes another', { '/items/0': null, '/items/1/quantity': 2 }, ['Water'], []],
])('an edit of items %s', (_, edits, names, warnings) => {
  expect(editItems(edits)).toEqual([names, warnings]);
});

test.each<[string, OrderEdits]>([
  ['a missing item', { '/items/2': null }],
  ['an insertion behind the end', { '/items/3': KARAK }],
  ['an item that is no object', { '/items/-': 'Karak' }],
])('an edit with %s is rejected', (_, edits) => {
  expect(() => editItems(edits)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      errors: [expect.objectContaining({ pointer: Object.keys(edits)[0] })],
    }),
  );
});

test('no item can be added to a full list', () => {
  const full = normalizeOrder({ source_order_id: 'id', items: Array.from({ length: 1000 }, () => WATER) });
  expect(() => editOrder(full, { '/items/-': TEA })).toThrow(
    expect.objectContaining({ errors: [expect.objectContaining({ pointer: '/items/-', code: 'too_many_items' })] }),
  );
});
