import { describe, expect, test } from '@jest/globals';
import { normalize } from './normalize-one-field.ts';

describe('a total is read, silently', () => {
  test.each<[unknown, string, string?]>([
    ['149.50', '149.50'],
    [149.5, '149.5'],
    [0, '0'],
    [1e3, '1000'],
    ['000123', '123'],
    ['1,250.5', '1250.5'],
    ['1,250', '1250'],
    ['1.250', '1.25'],
    ['1.250,50', '1250.50'],
    ['1.250.000', '1250000'],
    ['99,50', '99.50'],
    ['1 250,50', '1250.50'],
    ['1\u00a0250.00', '1250.00'],
    ["1'250.00", '1250.00'],
    ['1,00,000.00', '100000.00'],
    ['.5', '0.5'],
    ['149.5000', '149.50'],
    ['999999999999999.99', '999999999999999.99'],
    ['٩٩٫٥٠', '99.50'],
    ['۱٬۲۵۰', '1250'],
    ['AED 99', '99'],
    ['Dhs. 1,250/-', '1250'],
    ['Dhs.50', '50'],
    ['99 درهم', '99'],
    ['٩٩ د.إ', '99'],
    ['$20', '20', 'USD'],
    ['20 usd', '20', 'USD'],
    ['€1.250,50', '1250.50', 'EUR'],
    ['KWD 1.234', '1.234', 'KWD'],
  ])('%p is %s %s', (sent, total, currency = 'AED') => {
    const { order, warned } = normalize({ total: sent });
    expect(order).toMatchObject({ total, currency });
    expect(warned).toEqual([]);
  });

  test.each([null, '', '  '])('%p is absent', (total) => {
    expect(normalize({ total })).toMatchObject({ order: { total: null, currency: 'AED' }, warned: [] });
  });
});

describe('a total is read with a warning', () => {
  test.each<[unknown, string, string]>([
    ['0,500', '0.50', 'total_ambiguous'],
    ['1234,567', '1234567', 'total_ambiguous'],
    ['149.505', '149.505', 'total_fraction'],
    ['JPY 1.5', '1.5', 'total_fraction'],
    ['1.23456789', '1.234568', 'total_rounded'],
    ['1.2345645', '1.234565', 'total_rounded'],
    [0.1 + 0.2, '0.3', 'total_rounded'],
    ['\u200f99.50', '99.50', 'characters_removed'],
  ])('%p is %s: %s', (sent, total, code) => {
    expect(normalize({ total: sent })).toMatchObject({ order: { total }, warned: [`/total ${code}`] });
  });
});

describe('a total is left empty, with a warning', () => {
  test.each<[unknown, string]>([
    ['free', 'total_unreadable'],
    ['5 - 6', 'total_unreadable'],
    ['12.05.2024', 'total_unreadable'],
    ['1,25,00', 'total_unreadable'],
    ['1e3', 'total_unreadable'],
    ['AED 5 USD', 'total_unreadable'],
    ['AED 5 or so', 'total_unreadable'],
    ['Rs 500', 'total_unreadable'],
    [true, 'total_unreadable'],
    [{}, 'total_unreadable'],
    [-5, 'total_negative'],
    ['AED -5', 'total_negative'],
    ['−5', 'total_negative'],
    ['1234567890123456', 'out_of_range'],
    ['999999999999999.9999999', 'out_of_range'],
    [1e20, 'out_of_range'],
    [Number.POSITIVE_INFINITY, 'out_of_range'],
  ])('%p: %s', (total, code) => {
    expect(normalize({ total })).toMatchObject({ order: { total: null }, warned: [`/total ${code}`] });
  });
});

test('digits of a text never pass through a float', () => {
  expect(normalize({ total: '123456789012345.678901', currency: 'XYZ' }).order.total).toBe('123456789012345.678901');
});

test('a total as long as the body may be takes no time', () => {
  const zeros = '0'.repeat(130_000);
  const start = performance.now();
  normalize({ total: `1.${zeros}1${zeros}1` });
  normalize({ total: `${zeros}${zeros}x` });
  normalize({ total: `1,${'000,'.repeat(60_000)}x1` });
  expect(performance.now() - start).toBeLessThan(1_000);
});

describe('a currency', () => {
  test.each<[unknown, string, string[]]>([
    ['usd', 'USD', []],
    [' aed ', 'AED', []],
    ['Dhs', 'AED', []],
    ['د.إ', 'AED', []],
    ['$', 'USD', []],
    [null, 'AED', []],
    ['XCG', 'XCG', []],
    ['bitcoin', 'bitcoin', ['/currency currency_unknown']],
    [['AED'], 'AED', ['/currency not_text']],
  ])('%p is %s', (sent, currency, warned) => {
    expect(normalize({ currency: sent })).toMatchObject({ order: { currency }, warned });
  });

  test('wins over another one in the total', () => {
    expect(normalize({ currency: 'SAR', total: 'AED 5' })).toMatchObject({
      order: { currency: 'SAR', total: '5' },
      warned: ['/currency currency_conflict'],
    });
  });

  test('may be written in both places', () => {
    expect(normalize({ currency: 'usd', total: '$5' })).toMatchObject({ order: { currency: 'USD' }, warned: [] });
  });
});
