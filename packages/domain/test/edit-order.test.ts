import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { OrderEdits } from '../src/apply-edits.ts';
import { editOrder } from '../src/edit-order.ts';
import { normalizeOrder } from '../src/normalize-order.ts';
import type { Order } from '../src/order.ts';
import { anyPayload, mutatedOrder } from './arbitrary-payload.ts';

type Payload = Record<string, unknown>;

const edit = (payload: Payload, edits: OrderEdits) =>
  editOrder(normalizeOrder({ source_order_id: 'id', ...payload }), edits);
const shown = ({ warnings }: ReturnType<typeof edit>) => warnings.map(({ pointer, code }) => `${pointer} ${code}`);

describe('an edited value is read like a value of a payload', () => {
  test.each<[string, unknown, Payload]>([
    ['/order_number', ' 17 ', { order_number: '17' }],
    ['/order_number', null, { order_number: 'id' }],
    ['/customer/name', 'Aisha', { customer: { name: 'Aisha', phone: null, email: null, id: null } }],
    ['/customer/phone', '050 123 4567', { customer: { name: null, phone: '+971501234567', email: null, id: null } }],
    ['/address', ['Apt 4', 'Marina'], { address: 'Apt 4, Marina' }],
    ['/emirate', 'شارقة', { emirate: 'Sharjah', emirate_code: 'AE-SH' }],
    ['/emirate', 'Al Ain', { emirate: 'Abu Dhabi', emirate_code: 'AE-AZ', area: 'Al Ain' }],
    ['/area', 'Dubai Marina', { area: 'Dubai Marina', emirate: 'Dubai', emirate_code: 'AE-DU' }],
    ['/items', 'Karak', { items: [{ name: 'Karak', quantity: null, sku: null }] }],
    ['/total', '1,250.5', { total: '1250.5' }],
    ['/total', '$20', { total: '20', currency: 'AED' }],
    ['/currency', 'usd', { currency: 'USD' }],
    ['/delivery_instructions', 'Knock\u0000', { delivery_instructions: 'Knock' }],
  ])('%s: %j', (pointer, value, expected) => {
    expect(edit({}, { [pointer]: value }).order).toMatchObject(expected);
  });
});

describe('warnings', () => {
  test.each<[string, Payload, OrderEdits, string[]]>([
    ['at an edited field go', { total: 'free', emirate: 'Atlantis' }, { '/total': 5 }, ['/emirate emirate_unknown']],
    ['of the new value take their place', { total: 'free' }, { '/total': '-5' }, ['/total total_negative']],
    ['stay where the new value is as bad', { total: 'free' }, { '/total': 'gratis' }, ['/total total_unreadable']],
    ['of other fields stay, once', { emirate: 'Atlantis' }, { '/area': 'X' }, ['/emirate emirate_unknown']],
    [
      'of what was inferred go with the emirate',
      { address: 'Deira, Dubai' },
      { '/emirate': 'Ajman' },
      ['/emirate emirate_contradicted'],
    ],
    [
      'of an emirate that the address contradicts go with the address',
      { emirate: 'Ajman', address: 'Deira, Dubai' },
      { '/address': 'Al Jurf' },
      [],
    ],
    ['come where the edit has something inferred', {}, { '/address': 'Deira, Dubai' }, ['/address inferred']],
    [
      'of a currency that the total contradicts go with the total',
      { total: '$20', currency: 'AED' },
      { '/total': '20' },
      [],
    ],
    ['come where the new total contradicts the currency', {}, { '/total': '$20' }, ['/currency currency_conflict']],
    ['of unknown members stay', { extra: 1, area: 7 }, { '/area': 'X' }, ['/extra unknown_field']],
    ['at parts of a field go with it', { items: [{ quantity: '2' }] }, { '/items': [{ name: 'Karak' }] }, []],
    [
      'of other items stay',
      { items: [{ quantity: '2' }, { quantity: 'x' }] },
      { '/items/1/quantity': 2 },
      ['/items/0/quantity quantity_from_text'],
    ],
    [
      'of an item behind one that was dropped',
      { items: [7, { quantity: 'x' }] },
      { '/items/0/quantity': 2 },
      ['/items/0 not_an_item'],
    ],
    ['of a single item', { items: { quantity: 'x' } }, { '/items/0/quantity': 2 }, ['/items items_not_a_list']],
    ['of an item that was a string', { items: ['Karak'] }, { '/items/0/name': 'Karak' }, []],
    [
      'of a customer in a list',
      { customer: [{ phone: 'x' }] },
      { '/customer/phone': null },
      ['/customer customer_in_list'],
    ],
    ['of a customer that was a string', { customer: 'Aisha' }, { '/customer/name': 'Aisha' }, []],
  ])('%s', (_, payload, edits, expected) => {
    expect(shown(edit(payload, edits))).toEqual(expected);
  });
});

describe('changes', () => {
  test.each<[string, Payload, OrderEdits, { pointer: string; before: unknown; after: unknown }[]]>([
    ['a field', { area: 'X' }, { '/area': 'Y' }, [{ pointer: '/area', before: 'X', after: 'Y' }]],
    ['nothing', { area: 'X' }, { '/area': ' X ' }, []],
    [
      'what follows from it',
      {},
      { '/emirate': 'dxb' },
      [
        { pointer: '/emirate', before: null, after: 'Dubai' },
        { pointer: '/emirate_code', before: null, after: 'AE-DU' },
      ],
    ],
    [
      'an item',
      { items: [{ name: 'Karak' }] },
      { '/items/0/quantity': 2 },
      [{ pointer: '/items/0/quantity', before: null, after: 2 }],
    ],
    [
      'the items, when there are more or fewer',
      { items: [{ name: 'Karak' }] },
      { '/items': [] },
      [{ pointer: '/items', before: [{ name: 'Karak', quantity: null, sku: null }], after: [] }],
    ],
  ])('%s', (_, payload, edits, expected) => {
    expect(edit(payload, edits).changes).toEqual(expected);
  });
});

test.each([
  '/source_order_id',
  '/emirate_code',
  '/order_id',
  '/customer',
  '/customer/age',
  '/items/1/name',
  '/items/-',
  '',
  'area',
])('"%s" cannot be edited', (pointer) => {
  const attempt = () => edit({ items: ['Karak'] }, { [pointer]: 'x', '/area': 'Y' });
  expect(attempt).toThrow(
    expect.objectContaining({ code: 'invalid_request', errors: [expect.objectContaining({ pointer })] }),
  );
});

describe('an order of more than 1,000 items', () => {
  const items = (count: number) => Array.from({ length: count }, () => ({ name: 'x', quantity: 1, sku: null }));
  const old = { ...normalizeOrder({ source_order_id: 'id' }), warnings: [] };
  old.order.items = items(50_000);

  test('keeps all stored items when another field is edited', () => {
    const edited = editOrder(old, { '/area': 'Y', '/items/999/quantity': 2 });
    expect(edited.order.items).toHaveLength(50_000);
    expect(edited.warnings).toEqual([]);
    expect(edited.changes).toEqual([
      { pointer: '/area', before: null, after: 'Y' },
      { pointer: '/items/999/quantity', before: 1, after: 2 },
    ]);
  });

  test('allows no edit behind the 1,000th item', () => {
    expect(() => editOrder(old, { '/items/1000/quantity': 2 })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  test('is cut to the first 1,000 by an edit, with a warning that disappears with the next edit of the items', () => {
    const edited = edit({}, { '/items': items(1_007) });
    expect(edited.order.items).toHaveLength(1_000);
    expect(shown(edited)).toEqual(['/items too_many_items']);
    expect(shown(editOrder(edited, { '/items/3/quantity': 2 }) as typeof edited)).toEqual(['/items too_many_items']);
    expect(shown(editOrder(edited, { '/items': ['Karak'] }) as typeof edited)).toEqual(['/items/0 item_as_text']);
  });
});

test('an edit to the stored value changes only the warnings of its field', () => {
  fc.assert(
    fc.property(mutatedOrder, (payload) => {
      const stored = normalizeOrder(payload as Payload);
      const { order, changes } = editOrder(stored, { '/delivery_instructions': stored.order.delivery_instructions });
      expect([order, changes]).toEqual([stored.order, []]);
    }),
    { numRuns: 500 },
  );
});

const STORED = normalizeOrder({ source_order_id: 'id', total: '5', items: [{ name: 'Karak', quantity: '1' }] });
const rejectionsOf = (edits: OrderEdits) =>
  editOrder(STORED, edits).rejections.map(({ pointer, code }) => [pointer, code]);

test.each<[string, unknown, string]>([
  ['/total', '12.5o', 'total_unreadable'],
  ['/total', '-5', 'total_negative'],
  ['/items/0/quantity', 0, 'quantity_unreadable'],
  ['/items/0/quantity', 1.5, 'quantity_unreadable'],
  ['/items/-/quantity', 'two', 'quantity_unreadable'],
  ['/customer/phone', '12', 'phone_unreadable'],
  ['/customer/email', 'aisha', 'email_implausible'],
  ['/currency', 'XYZ', 'currency_unknown'],
  ['/emirate', 'Atlantis', 'emirate_unknown'],
  ['/emirate', 'Dibba', 'emirate_ambiguous'],
  ['/address', 'x'.repeat(10_000), 'too_long'],
  ['/area', { a: 1 }, 'not_text'],
])('%s of an edit is rejected if it is %j', (pointer, value, code) => {
  const [, member] = /^\/items\/-\/(\w+)$/.exec(pointer) ?? [];
  expect(rejectionsOf(member ? { '/items/-': { [member]: value } } : { [pointer]: value })).toEqual([[pointer, code]]);
});

test.each<[string, unknown]>([
  ['/total', null],
  ['/total', '1,250.50'],
  ['/customer/phone', '+971 4 765 4321 ext. 12'],
  ['/customer/phone', '055 000 00'],
  ['/emirate', 'al ain'],
  ['/address', 'Dibba'],
  ['/items/0/quantity', '3 pcs'],
])('%s of an edit is accepted if it is %j', (pointer, value) => {
  expect(rejectionsOf({ [pointer]: value })).toEqual([]);
});

test('a value that cannot be read is no reason to reject the edit of another field', () => {
  const stored = normalizeOrder({ source_order_id: 'id', customer: { phone: 'call me' }, emirate: 'Atlantis' });
  expect(editOrder(stored, { '/address': 'Apt 4', '/total': '5' }).rejections).toEqual([]);
});

const [KARAK, WATER, TEA] = ['Karak', 'Water', 'Tea'].map((name) => ({ name, quantity: 1, sku: null }));
const items = [
  { name: 'Karak', quantity: '1' },
  { name: 'Water', quantity: 'x' },
];
const WITH_ITEMS = normalizeOrder({ source_order_id: 'id', items });
const editItems = (edits: OrderEdits) => {
  const { order, warnings } = editOrder(WITH_ITEMS, edits);
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

const FIELDS = [
  '/order_number',
  '/customer/name',
  '/customer/phone',
  '/customer/email',
  '/customer/id',
  '/address',
  '/emirate',
  '/area',
  '/total',
  '/currency',
  '/delivery_instructions',
];
const VALUES = [null, 'Dubai', 'Al Ain', 'Deira, Dubai', '050 123 4567', '$20', '12.50 KWD', 'usd', 'x', 'Sharjah', 7];
const ITEMS = [null, { name: 'Karak', quantity: 2, sku: null }, { sku: 'K-1' }, { name: 'Chai', quantity: '3' }];

const fieldEdit = fc.tuple(fc.constantFrom(...FIELDS), fc.constantFrom(...VALUES));
const itemEdit = fc.tuple(fc.constantFrom('/items/-', '/items/0', '/items/1', '/items/2'), fc.constantFrom(...ITEMS));
const memberEdit = fc.tuple(
  fc.constantFrom('/items/0/name', '/items/1/quantity', '/items/2/sku'),
  fc.constantFrom('Tea', 4, null),
);
const itemsEdit = fc.tuple(fc.constant('/items'), fc.constantFrom(null, [], [{ name: 'Karak' }], 'Karak'));
const edits = fc
  .array(fc.oneof({ weight: 4, arbitrary: fieldEdit }, { weight: 4, arbitrary: itemEdit }, memberEdit, itemsEdit), {
    minLength: 1,
    maxLength: 4,
  })
  .map((list: [pointer: string, value: unknown][]) => Object.fromEntries(list));

/** @returns null for edits that name an item that the order has not. */
function tryEdit(stored: Parameters<typeof editOrder>[0], edited: Record<string, unknown>) {
  try {
    return editOrder(stored, edited);
  } catch {
    return null;
  }
}

test('applying the undo of an edit restores the order', () => {
  let tried = 0;
  let applied = 0;
  fc.assert(
    fc.property(fc.oneof(mutatedOrder, anyPayload), edits, (payload, values) => {
      const stored = normalizeOrder(payload as Payload);
      tried += 1;
      const edited = tryEdit(stored, values);
      if (!edited) return;
      applied += 1;
      const restored: Order =
        Object.keys(edited.undo).length === 0 ? edited.order : editOrder(edited, edited.undo).order;
      expect(restored).toEqual(stored.order);
    }),
    { numRuns: 3000 },
  );
  expect(applied).toBeGreaterThan(tried / 3);
});
