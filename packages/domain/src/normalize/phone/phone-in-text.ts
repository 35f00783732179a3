import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { toAsciiDigits } from '../digits.ts';
import { removeInvisible } from '../text.ts';

/** What people put between the digits of one number; bounded, or a long text of blanks would take for ever. */
const BETWEEN = String.raw`[\s().\-/_]{0,3}`;
/** With fewer digits it is in too many texts that are about something else. */
const MIN_DIGITS = 7;

/**
 * Finds one phone number in texts about anything, however its digits are grouped, with or without country code.
 *
 * @param number in E.164.
 * @returns null when that is no number, or so short that it would be found where it is not meant.
 */
export function phoneInText(number: string): ((text: string) => boolean) | null {
  const phone = parsePhoneNumberFromString(number);
  if (!phone || phone.nationalNumber.length < MIN_DIGITS) return null;
  const spaced = (digits: string) => [...digits].join(BETWEEN);
  const country = String.raw`(?:(?:\+|00)?${BETWEEN}${spaced(phone.countryCallingCode)}${BETWEEN})?`;
  const pattern = new RegExp(String.raw`(?<!\d)${country}(?:0${BETWEEN})?${spaced(phone.nationalNumber)}(?!\d)`);
  return (text) => pattern.test(toAsciiDigits(removeInvisible(text)));
}
