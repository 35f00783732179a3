import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { editOrder } from '../src/edit-order.ts';
import { normalizeOrder } from '../src/normalize-order.ts';
import type { Order } from '../src/order.ts';
import { anyPayload, mutatedOrder } from './arbitrary-payload.ts';

type Edit = [pointer: string, value: unknown];

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
  .map((list: Edit[]) => Object.fromEntries(list));

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
      const stored = normalizeOrder(payload as Parameters<typeof normalizeOrder>[0]);
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
