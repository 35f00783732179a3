import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../src/index.ts';
import { normalize } from './normalize-one-field.ts';

describe('a phone number', () => {
  test.each([
    ['+971501234567', '+971501234567'],
    ['050-123 4567', '+971501234567'],
    ['050.123.4567', '+971501234567'],
    ['501234567', '+971501234567'],
    ['00971501234567', '+971501234567'],
    ['971501234567', '+971501234567'],
    ['+00971501234567', '+971501234567'],
    ['+971 (0)50 123 4567', '+971501234567'],
    ['(+971) 50 1234567', '+971501234567'],
    ['tel:+971-50-123-4567', '+971501234567'],
    ['٠٥٠١٢٣٤٥٦٧', '+971501234567'],
    ['۰۵۰۱۲۳۴۵۶۷', '+971501234567'],
    ['(04) 123-4567', '+97141234567'],
    ['+44 20 7946 0958', '+442079460958'],
  ])('%s is %s, silently', (sent, phone) => {
    expect(normalize({ customer: { phone: sent } })).toMatchObject({ order: { customer: { phone } }, warned: [] });
  });

  test.each<[unknown, string | null, string]>([
    [501234567, '+971501234567', 'number_as_text'],
    [971501234567, '+971501234567', 'number_as_text'],
    ['05012345678', '+9715012345678', 'phone_not_valid'],
    ['97150123456', '+97150123456', 'phone_not_valid'],
    ['04 123 4567 ext 12', '+97141234567 ext. 12', 'phone_extension'],
    ['\u202a+971501234567\u202c', '+971501234567', 'characters_removed'],
    ['999', '999', 'phone_unreadable'],
    ['0000000', '0000000', 'phone_unreadable'],
    ['ask the guard', 'ask the guard', 'phone_unreadable'],
    ['0501234567 / 0557654321', '0501234567 / 0557654321', 'phone_unreadable'],
    ['0501234567 (Ahmed)', '0501234567 (Ahmed)', 'phone_unreadable'],
    ['1-800-FLOWERS', '1-800-FLOWERS', 'phone_unreadable'],
    [true, null, 'not_text'],
  ])('%p is %p: %s', (sent, phone, code) => {
    expect(normalize({ customer: { phone: sent } })).toMatchObject({
      order: { customer: { phone } },
      warned: [`/customer/phone ${code}`],
    });
  });
});

describe('a customer', () => {
  test('may be a text: the name, and the phone number in it', () => {
    expect(normalize({ customer: ' Aisha, ٠٥٠١٢٣٤٥٦٧ ' })).toEqual({
      order: expect.objectContaining({
        customer: { name: 'Aisha, ٠٥٠١٢٣٤٥٦٧', phone: '+971501234567', email: null, id: null },
      }),
      warned: ['/customer customer_as_text'],
    });
  });

  test('may be alone in a list', () => {
    expect(normalize({ customer: [{ name: 'Aisha', id: 7 }] })).toMatchObject({
      order: { customer: { name: 'Aisha', id: '7' } },
      warned: ['/customer customer_in_list', '/customer/0/id number_as_text'],
    });
  });

  test.each([[7], [true], [[]], [['a', 'b']]])('cannot be %p', (customer) => {
    expect(normalize({ customer })).toMatchObject({
      order: { customer: { name: null, phone: null, email: null, id: null } },
      warned: ['/customer not_an_object'],
    });
  });

  test.each([['a@b.ae'], [' Aisha.Khan+x@mail.example.com '], ['عائشة@مثال.امارات']])(
    'may have the e-mail address %s',
    (email) => {
      expect(normalize({ customer: { email } })).toMatchObject({
        order: { customer: { email: email.trim() } },
        warned: [],
      });
    },
  );

  test.each([['aisha'], ['a@b'], ['a b@c.ae'], ['a@@b.ae'], ['@b.ae'], ['a@.ae'], ['a@b.']])(
    'keeps the implausible e-mail address %s, with a warning',
    (email) => {
      expect(normalize({ customer: { email } })).toMatchObject({
        order: { customer: { email } },
        warned: ['/customer/email email_implausible'],
      });
    },
  );

  test('is not repeated in any warning', () => {
    const secret = 'Secret0501234567';
    const { warnings } = normalizeOrder({
      source_order_id: 'test-1',
      customer: { name: `${secret}\0`, phone: secret, email: secret, id: `${secret}\0` },
      address: { street: secret },
    });
    expect(warnings).toHaveLength(5);
    expect(JSON.stringify(warnings)).not.toContain('Secret');
  });
});
