import { expect, test } from '@jest/globals';
import { createAddressMatcher, isAddressRange } from '../src/address-ranges.ts';

test.each([
  '203.0.113.7',
  '203.0.113.0/24',
  '0.0.0.0/0',
  '2001:db8::/32',
  '2001:DB8::1',
  '::1/128',
  '::ffff:203.0.113.7',
])('%s is an address or a range', (text) => expect(isAddressRange(text)).toBe(true));

test.each([
  '',
  '203.0.113',
  '203.0.113.0/33',
  '203.0.113.0/',
  '203.0.113.0/a',
  ' 203.0.113.7',
  '::/129',
  'fe80::1%eth0',
  'shop.example',
  '203.0.113.7:80',
])('"%s" is neither', (text) => expect(isAddressRange(text)).toBe(false));

test.each<[range: string, address: string, isMatch: boolean]>([
  ['203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', '203.0.113.8', false],
  ['203.0.113.77/24', '203.0.113.1', true],
  ['203.0.113.0/24', '::ffff:203.0.113.1', true],
  ['::ffff:203.0.113.0/120', '203.0.113.1', true],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::1', '2001:db8::2', false],
  ['fe80::/10', 'fe80::1%eth0', true],
  ['203.0.113.7', 'unknown', false],
  ['0.0.0.0/0', '', false],
])('%s and %s', (range, address, isMatch) => {
  expect(createAddressMatcher([range])(address)).toBe(isMatch);
});
