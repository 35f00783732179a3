import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { contactsIn, mentionsAny, searchCustomer } from '../src/customer-search.ts';
import { normalizeOrder } from '../src/normalize-order.ts';
import { parseBody } from '../src/parse-body.ts';
import { redactedBody, redactOrder } from '../src/redact-order.ts';
import { ofTextFields } from '../src/text-fields.ts';
import { anything } from './arbitrary-payload.ts';

const NUMBER = '+971501234567';

describe('a phone number', () => {
  const byPhone = searchCustomer({ phone: '050 123 4567' });

  test.each([NUMBER, `${NUMBER} ext. 12`])('belongs to a customer whose phone is stored as %s', (phone) => {
    expect(byPhone.isCustomer({ phone })).toBe(true);
    expect(byPhone.isCustomer({ phone: '+971501234568' })).toBe(false);
    expect(byPhone.isCustomer({ email: phone })).toBe(false);
  });

  test.each([
    '0501234567',
    '050-123 45 67',
    '(050) 123.4567',
    'call +971 50 123 4567 after 5pm',
    '00971501234567',
    '971 (0) 50 1234567',
    '٠٥٠١٢٣٤٥٦٧',
    '04 765 4321 / 050 123 4567, ask for Aisha',
    '0507654321 0501234567',
    '050\u200b1234567',
    971501234567,
    '+501234567',
    { contact: { phone: 501234567 } },
    { phone: ['04 765 4321', '50 123 4567'] },
    { notes: [{ text: 'or 050 1234567' }] },
    { '0501234567': true },
  ])('is mentioned in %j', (value) => {
    expect(byPhone.isMentioned(value)).toBe(true);
  });

  test.each([
    ...['0501234568', '6290501234567', '05012345678', '150.1234567', { 501: 234567 }, null, true],
    ...['501234567', 501234567, { reference: '50 123 4567' }],
    { source_order_id: '0501234567', order_number: '+971501234567', total: 971501234567 },
    { items: [{ sku: '0501234567', quantity: 971501234567 }], customer: { id: '0501234567' } },
  ])('is not mentioned in %j', (value) => {
    expect(byPhone.isMentioned(value)).toBe(false);
  });

  test('that cannot be parsed is searched for as it was sent, only in the phone field', () => {
    const byText = searchCustomer({ phone: ' ask at desk 12 ' });
    expect(
      byText.isCustomer({ phone: normalizeOrder({ customer: { phone: 'ask at desk 12' } }).order.customer.phone }),
    ).toBe(true);
    expect(byText.isMentioned('ask at desk 12')).toBe(false);
  });
});

describe('an e-mail address', () => {
  const byEmail = searchCustomer({ email: 'Li+x@Example.com' });

  test('is found in any case, and not inside a longer address', () => {
    expect(byEmail.isCustomer({ email: 'li+X@example.COM' })).toBe(true);
    for (const text of [
      'li+x@example.com',
      'mail LI+X@EXAMPLE.COM, please',
      '<li+x@example.com>.',
      { 'li+x@example.com': 1 },
    ])
      expect([text, byEmail.isMentioned(text)]).toEqual([text, true]);
    for (const text of [
      'ali+x@example.com',
      'li+x@example.company',
      'li+x@example.com.ae',
      'lixx@example.com',
      'li+x@examplescom',
    ])
      expect([text, byEmail.isMentioned(text)]).toEqual([text, false]);
  });
});

test('a customer id is compared exactly, and only with customer.id', () => {
  const byId = searchCustomer({ customerId: '17' });
  expect([byId.isCustomer({ id: '17' }), byId.isCustomer({ id: '170' }), byId.isMentioned('17')]).toEqual([
    true,
    false,
    false,
  ]);
});

describe('a redacted order', () => {
  const isMentioned = mentionsAny([NUMBER, 'aisha@example.com']);

  test('keeps the items and totals, and nothing about the customer', () => {
    const { order } = normalizeOrder({
      source_order_id: 'till-17',
      order_number: 'Aisha 0501234567',
      customer: { name: 'Aisha', phone: NUMBER, email: 'aisha@example.com', id: 'c-1' },
      address: 'Villa 7',
      emirate: 'Villa 7, Street 4, Dubai',
      items: [{ name: 'Cake', quantity: 2, sku: 'C-1' }, { name: 'Card for aisha@example.com' }],
      total: '149.50',
      delivery_instructions: 'Knock twice',
    });
    expect(redactOrder(order, isMentioned)).toEqual({
      source_order_id: 'till-17',
      order_number: 'till-17',
      customer: { name: null, phone: null, email: null, id: null },
      address: null,
      emirate: 'Dubai',
      emirate_code: 'AE-DU',
      area: null,
      items: [
        { name: 'Cake', quantity: 2, sku: 'C-1' },
        { name: null, quantity: null, sku: null },
      ],
      total: '149.50',
      currency: 'AED',
      ...ofTextFields(() => null),
    });
  });

  test('loses an emirate that was not recognized, because it may be an address', () => {
    const { order } = normalizeOrder({ source_order_id: 'x', emirate: 'the blue villa' });
    expect(redactOrder(order, isMentioned)).toMatchObject({ emirate: null, emirate_code: null });
  });

  test('stays the same when it is redacted again or read from its body', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const { order } = normalizeOrder({ ...payload, source_order_id: 'till-17' });
        const redacted = redactOrder(order, isMentioned);
        expect(redactOrder(redacted, isMentioned)).toEqual(redacted);
        expect(normalizeOrder(parseBody(redactedBody(redacted))).order).toEqual(redacted);
      }),
      { numRuns: 1_000 },
    );
  });
});

test('a number of Bahrain (no leading 0) is found with its country code, and without it only in a phone field', () => {
  const { isMentioned } = searchCustomer({ phone: '+97333123456' });
  for (const value of ['+973 3312 3456', '0097333123456', { phone: '3312 3456' }])
    expect([value, isMentioned(value)]).toEqual([value, true]);
  for (const value of ['33123456', 33123456, { source_order_id: '33123456', total: '33123456' }])
    expect([value, isMentioned(value)]).toEqual([value, false]);
});

test('the reported places of a customer are field names, never names that a sender chose', () => {
  const { whereIn } = searchCustomer({ phone: NUMBER, customerId: 'c-1' });
  const payload = {
    order_number: '0501234567',
    customer: { phone: '050 123 4567', id: 'c-1' },
    delivery_instructions: 'or 050 123 4567',
    '0501234567': 'Aisha',
  };
  const found = whereIn(normalizeOrder(payload).order, payload);
  expect(new Set(found)).toEqual(
    new Set(['customer.phone', 'customer.id', 'customer', 'delivery_instructions', 'another member']),
  );
});

test('all contacts in an order are found, also next to other text', () => {
  const payload = {
    source_order_id: '0509999999',
    customer: { phone: '050 123 4567 / +973 3312 3456', email: 'Li@example.com' },
    contact: { mobile: 971502223333 },
    delivery_instructions: 'Call 04 765 4321, or mail <a.b+c@mail.example.com>.',
    items: [{ name: 'Cake for 0508888888' }],
    long: 'x'.repeat(200_000),
  };
  expect(new Set(contactsIn(payload))).toEqual(
    new Set([
      ...['+971501234567', '+97333123456', 'Li@example.com', '+971502223333', '+97147654321'],
      'a.b+c@mail.example.com',
    ]),
  );
  const isMentioned = mentionsAny(contactsIn(payload));
  for (const text of ['SKU-501234567', 'for LI@example.com', '33123456'])
    expect([text, isMentioned(text)]).toEqual([text, true]);
  for (const text of ['0509999999', 'Cake', '1501234567']) expect([text, isMentioned(text)]).toEqual([text, false]);
});
