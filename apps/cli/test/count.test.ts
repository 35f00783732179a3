import { expect, test } from '@jest/globals';
import { plural } from '../src/table.ts';

test.each([
  [0, '0 orders'],
  [1, '1 order'],
  [2, '2 orders'],
  [12_345, '12,345 orders'],
])('%i has its noun in the right number', (number, text) => {
  expect(plural(number, 'order')).toBe(text);
});

test('a plural that takes more than an s is given', () => {
  expect([plural(1, 'order was', 'orders were'), plural(2, 'order was', 'orders were')]).toEqual([
    '1 order was',
    '2 orders were',
  ]);
});
