import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { normalizeOrder, parseBody, redactedBody, redactOrder, searchCustomer } from '../src/index.ts';
import { anything } from './arbitrary-payload.ts';

const NUMBER = '+971501234567';

describe('a phone number', () => {
  const byPhone = searchCustomer({ phone: '050 123 4567' });

  test.each([NUMBER, `${NUMBER} ext. 12`])('is that of a customer whose phone is stored as %s', (phone) => {
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
    501234567,
    971501234567,
    { notes: [{ text: 'or 050 1234567' }] },
    { '0501234567': true },
  ])('is mentioned in %j', (value) => {
    expect(byPhone.isMentioned(value)).toBe(true);
  });

  test.each(['0501234568', '6290501234567', '05012345678', '150.1234567', { 501: 234567 }, null, true])(
    'is not mentioned in %j',
    (value) => {
      expect(byPhone.isMentioned(value)).toBe(false);
    },
  );

  test('that cannot be read is looked for as it was sent, in the phone alone', () => {
    const byText = searchCustomer({ phone: ' ask at desk 12 ' });
    expect(
      byText.isCustomer({ phone: normalizeOrder({ customer: { phone: 'ask at desk 12' } }).order.customer.phone }),
    ).toBe(true);
    expect(byText.isMentioned('ask at desk 12')).toBe(false);
  });
});

describe('an e-mail address', () => {
  const byEmail = searchCustomer({ email: 'Li+x@Example.com' });

  test('is found in any case, and not as a part of another', () => {
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

test("a customer's id is compared exactly, and looked for nowhere else", () => {
  const byId = searchCustomer({ customerId: '17' });
  expect([byId.isCustomer({ id: '17' }), byId.isCustomer({ id: '170' }), byId.isMentioned('17')]).toEqual([
    true,
    false,
    false,
  ]);
});

describe('a redacted order', () => {
  const search = searchCustomer({ phone: NUMBER, email: 'aisha@example.com' });

  test('keeps what was sold, and says nothing of the customer', () => {
    const { order } = normalizeOrder({
      source_order_id: 'till-17',
      order_number: 'Aisha 0501234567',
      customer: { name: 'Aisha', phone: NUMBER, email: 'aisha@example.com', id: 'c-1' },
      address: 'Villa 7',
      emirate: 'Villa 7, Street 4, Dubai',
      items: [{ name: 'Cake', quantity: 2, sku: 'C-1' }, { name: 'Card for aisha@example.com' }],
      total: '149.50',
      delivery_instructions: 'Ring twice',
    });
    expect(redactOrder(order, search)).toEqual({
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
      delivery_instructions: null,
    });
  });

  test('an emirate that could not be read may be an address, and goes', () => {
    const { order } = normalizeOrder({ source_order_id: 'x', emirate: 'the blue villa' });
    expect(redactOrder(order, search)).toMatchObject({ emirate: null, emirate_code: null });
  });

  test('is the same when it is redacted again, and when its body is read', () => {
    fc.assert(
      fc.property(anything, (payload) => {
        const { order } = normalizeOrder({ ...payload, source_order_id: 'till-17' });
        const redacted = redactOrder(order, search);
        expect(redactOrder(redacted, search)).toEqual(redacted);
        expect(normalizeOrder(parseBody(redactedBody(redacted))).order).toEqual(redacted);
      }),
      { numRuns: 1_000 },
    );
  });
});
