import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parsePhoneNumberFromString as parseWithFullMetadata } from 'libphonenumber-js/max';
import { readNumber } from '../src/normalize/phone/read-number.ts';

const parse = (text: string) => parseWithFullMetadata(text, { defaultCountry: 'AE', extract: false });
const prefix = fc.constantFrom('', '0', '+971', '00971', '971', '+', '00', '+966', '0044');
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 5, maxLength: 12 });

describe('a number that libphonenumber considers valid with its full metadata', () => {
  test('is read like libphonenumber reads it', () => {
    const separator = fc.constantFrom('', ' ', '-', '.');
    fc.assert(
      fc.property(prefix, digits, fc.nat(12), separator, (start, rest, at, between) => {
        const text = (start + rest).slice(0, at) + between + (start + rest).slice(at);
        // A trailing ".0" comes from a spreadsheet and is not part of the number.
        fc.pre(!/\.0+$/.test(text));
        const expected = parse(text);
        fc.pre(expected?.isValid() === true);
        expect(readNumber(text)).toMatchObject({ number: expected?.number, isValid: true });
      }),
      { numRuns: 20_000, maxSkipsPerRun: 1_000 },
    );
  });
});

test.each(Array.from({ length: 10 }, (_, digit) => `5${digit}`))(
  '%s is a mobile prefix of the Emirates exactly if libphonenumber says so',
  (operator) => {
    expect(readNumber(`0${operator}1234567`)?.isValid).toBe(parse(`0${operator}1234567`)?.isValid());
  },
);

test.each(['2', '3', '4', '6', '7', '9'])(
  'a fixed line in the area %s has seven digits after the area code',
  (area) => {
    expect(readNumber(`0${area}2345678`)).toEqual({ number: `+971${area}2345678`, isValid: true });
    expect(readNumber(`0${area}23456789`)?.isValid ?? false).toBe(false);
    expect(readNumber(`0${area}234567`)?.isValid ?? false).toBe(false);
  },
);
