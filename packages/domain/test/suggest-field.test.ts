import { expect, test } from '@jest/globals';
import { suggestField, suggestFields } from '../src/sources/suggest-field.ts';

test.each([
  ['Order ID', '/source_order_id'],
  ['order_id', '/source_order_id'],
  ['orderId', '/source_order_id'],
  ['Order no.', '/source_order_id'],
  ['Invoice no.', '/order_number'],
  ['Order #', '/source_order_id'],
  ['Customer name', '/customer/name'],
  ['Phone', '/customer/phone'],
  ['MOBILE NUMBER ', '/customer/phone'],
  ['E-Mail', '/customer/email'],
  ['City', '/emirate'],
  ['Delivery address', '/address'],
  ['Total (AED)', '/total'],
  ['Qty', '/items/0/quantity'],
  ['Item 2', '/items/1/name'],
  ['Item 12 SKU', '/items/11/sku'],
  ['Product 3 name', '/items/2/name'],
  ['Notes', '/delivery_instructions'],
  ['رقم الطلب', '/source_order_id'],
  ['رقم الهاتف', '/customer/phone'],
  ['المدينة', '/emirate'],
  ['العُنوان', '/address'],
  ['Phone 2', null],
  ['Item 0', null],
  ['constructor', null],
  ['Foo', null],
  ['', null],
  [`Phone${' '.repeat(100)}`, null],
])('the heading "%s" means %s', (heading, pointer) => {
  expect(suggestField(heading)).toBe(pointer);
});

test('of several headings for one field the likeliest has it, and an address has them all', () => {
  expect(suggestFields(['Price', 'Total', 'Street', 'Address 1', 'Customer', 'Recipient', 'Item 2', 'x'])).toEqual([
    null,
    '/total',
    '/address',
    '/address',
    null,
    '/customer/name',
    '/items/1/name',
    null,
  ]);
});
