import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { toAsciiDigits } from '../digits.ts';
import { removeInvisible } from '../text.ts';

/** What people put between the digits of one number; bounded, or a long text of blanks would take for ever. */
const BETWEEN = String.raw`[\s().\-/_]{0,3}`;
/** With fewer digits it is in too many texts that are about something else. */
const MIN_DIGITS = 7;

/** Finds one phone number, however its digits are grouped. */
interface PhoneFinder {
  /** In a text about anything, where digits alone are as likely an id: with country code, 0 or + before it. */
  isInText(text: string): boolean;
  /** Where phone numbers are expected: also without any of these. */
  isInPhone(text: string): boolean;
}

/**
 * @param number in E.164.
 * @returns null when that is no number, or so short that it would be found where it is not meant.
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
