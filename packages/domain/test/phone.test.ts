import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { readNumber } from '../src/normalize/phone/read-number.ts';

test('what is read without libphonenumber is read as libphonenumber reads it', () => {
  const rest = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 6, maxLength: 9 });
  const number = fc.tuple(fc.constantFrom('', '0', '+971', '00971', '971', '+', '00'), fc.nat(99), rest);
  fc.assert(
    fc.property(number, fc.nat(12), fc.constantFrom('', ' ', '-', '.'), ([prefix, operator, tail], at, separator) => {
      const digits = `${prefix}${operator}${tail}`;
      const text = digits.slice(0, at) + separator + digits.slice(at);
      const expected = parsePhoneNumberFromString(text, { defaultCountry: 'AE', extract: false });
      fc.pre(expected?.isValid() === true);
      expect(readNumber(text)).toMatchObject({ number: expected?.number, isValid: true });
    }),
    { numRuns: 20_000 },
  );
});

test.each(['50', '52', '54', '55', '56', '58'])(
  '%s is a mobile operator of the Emirates for libphonenumber too',
  (code) => {
    const known = parsePhoneNumberFromString(`0${code}1234567`, 'AE');
    expect(known?.isValid()).toBe(true);
    expect(readNumber(`0${code}1234567`)).toEqual({ number: known?.number, isValid: true });
  },
);
