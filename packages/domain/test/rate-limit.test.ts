import { expect, test } from '@jest/globals';
import { formatAccountRateLimit, parseAccountRateLimit, parseRateLimit } from '../src/rate-limit.ts';

test.each([
  ['1/1s', { requests: 1, seconds: 1 }],
  ['100/1s', { requests: 100, seconds: 1 }],
  ['6000/1m', { requests: 6000, seconds: 60 }],
  ['5/90s', { requests: 5, seconds: 90 }],
  ['5/36h', { requests: 5, seconds: 129_600 }],
  ['999999999/24d', { requests: 999_999_999, seconds: 2_073_600 }],
])('%s is parsed, and formatted as the same string', (text, limit) => {
  expect(parseRateLimit(text)).toEqual(limit);
  expect(formatAccountRateLimit(limit)).toBe(text);
});

test.each([
  ['none', 'none'],
  ['default', null],
  ['100/1s', { requests: 100, seconds: 1 }],
] as const)('%s as the limit of an account is parsed, and formatted as the same string', (text, limit) => {
  expect(parseAccountRateLimit(text)).toEqual(limit);
  expect(formatAccountRateLimit(limit)).toBe(text);
});

test('a limit is formatted in the largest unit that fits', () => {
  expect(
    ['1/60s', '1/60m', '1/24h', '1/48h', '1/25h'].map((text) => formatAccountRateLimit(parseRateLimit(text))),
  ).toEqual(['1/1m', '1/1h', '1/1d', '1/2d', '1/25h']);
});

test.each([
  '',
  '100',
  '100/',
  '/1s',
  '0/1s',
  '1/0s',
  '100/1',
  '100/500ms',
  '1.5/1s',
  '-1/1s',
  '1e3/1s',
  '1/25d',
  '1/1w',
  '1/1s ',
])('"%s" is not a rate', (text) => {
  expect(() => parseRateLimit(text)).toThrow();
});
