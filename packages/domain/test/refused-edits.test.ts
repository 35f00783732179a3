import { expect, test } from '@jest/globals';
import type { OrderEdits } from '../src/apply-edits.ts';
import { editOrder } from '../src/edit-order.ts';
import { normalizeOrder } from '../src/normalize-order.ts';

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
])('%s of an edit is refused if it is %j', (pointer, value, code) => {
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

test('a value that cannot be read is no reason to refuse the edit of another field', () => {
  const stored = normalizeOrder({ source_order_id: 'id', customer: { phone: 'call me' }, emirate: 'Atlantis' });
  expect(editOrder(stored, { '/address': 'Apt 4', '/total': '5' }).rejections).toEqual([]);
});
