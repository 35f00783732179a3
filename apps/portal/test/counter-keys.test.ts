import { expect, test } from '@jest/globals';
import { networksOf } from '../src/sign-in/attempt-bounds.ts';

test.each([
  ['203.0.113.7', { narrow: '203.0.113.7', widest: '203.0.113' }],
  ['::ffff:203.0.113.7', { narrow: '203.0.113.7', widest: '203.0.113' }],
  ['', { narrow: '', widest: '' }],
])('the networks of %j are it and its /24', (address, expected) => {
  expect(networksOf(address)).toEqual(expected);
});

test('the networks of an IPv6 address are its /64, /56 and /48, however it is written', () => {
  const networks = networksOf('2001:db8:0:12ab::1');
  expect(networksOf('2001:0DB8:0000:12ab:0:0:ffff:9')).toEqual(networks);
  const sharedWith = (address: string) =>
    Object.entries(networksOf(address))
      .filter(([width, network]) => networks[width as keyof typeof networks] === network)
      .map(([width]) => width);
  expect(sharedWith('2001:db8:0:12ff::1')).toEqual(['wide', 'widest']);
  expect(sharedWith('2001:db8:0:1300::1')).toEqual(['widest']);
  expect(sharedWith('2001:db8::1')).toEqual(['widest']);
  expect(sharedWith('2001:db8:1:12ab::1')).toEqual([]);
});
