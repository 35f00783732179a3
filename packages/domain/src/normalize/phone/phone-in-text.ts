import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { removeInvisible, toAsciiDigits } from '../text.ts';

/** Separators between the digits of one number; bounded, so that long runs of spaces cannot take quadratic time. */
const BETWEEN = String.raw`[\s().\-/_]{0,3}`;
/** Shorter numbers would match too much unrelated text. */
const MIN_DIGITS = 7;

/** Finds one phone number, however its digits are grouped. */
interface PhoneFinder {
  /** In arbitrary text, where digits alone may be an id: requires a country code, 0 or + before the number. */
  isInText(text: string): boolean;
  /** In a phone field: also without a prefix. */
  isInPhone(text: string): boolean;
}

/**
 * @param number in E.164.
 * @returns null if it is not a number, or too short to be found reliably.
 */
export function phoneInText(number: string): PhoneFinder | null {
  const phone = parsePhoneNumberFromString(number);
  if (!phone || phone.nationalNumber.length < MIN_DIGITS) return null;
  const spaced = (digits: string) => [...digits].join(BETWEEN);
  const country = String.raw`(?:\+|00)?${BETWEEN}${spaced(phone.countryCallingCode)}${BETWEEN}(?:0${BETWEEN})?`;
  const prefix = `(?:${country}|[0+]${BETWEEN})`;
  const finder = (before: string) => {
    const pattern = new RegExp(String.raw`(?<!\d)${before}${spaced(phone.nationalNumber)}(?!\d)`);
    return (text: string) => pattern.test(toAsciiDigits(removeInvisible(text)));
  };
  return { isInText: finder(prefix), isInPhone: finder(`${prefix}?`) };
}
