import { type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { toAsciiDigits } from '../digits.ts';
import { removeInvisible } from '../text.ts';

/** Of numbers without country code. */
export const DEFAULT_REGION = 'AE';
const COUNTRY_CODE = '971';

/** A text that is one phone number: as E.164, with its extension, and what about it was uncertain. */
export type NumberReading = {
  number: string;
  extension?: string | undefined;
  isValid: boolean;
  /** Whether a foreign country code was written without + or 00. */
  isPlusAssumed?: boolean;
};

/** What nearly every order holds, a mobile number of the Emirates, without the cost of the general reading. */
const MOBILE = /^(?:\+971|00971|971|0)?(5[02-68]\d{7})$/;

/**
 * National numbers of the Emirates: fixed lines, mobiles, and the ranges that cost nothing or more. The smallest metadata
 * of libphonenumber would take a fixed line with a digit too many; exact to the operator only for mobiles.
 */
const NATIONAL = /^(?:[2-4679]\d{7}|5[02-68]\d{7}|800\d{2,9}|(?:400|[679]00)\d{6})$/;

/** With fewer digits, and no plus, a mistyped local number is likelier than a foreign one (5012345678 from Belize). */
const MIN_FOREIGN_DIGITS = 11;

/**
 * Reads a text that is a phone number and nothing else, in whichever usual spelling; one without country code is of the
 * Emirates. Undefined when it is no possible number.
 */
export function readNumber(text: string): NumberReading | undefined {
  const spelled = toCommonSpelling(text);
  const [, mobile] = MOBILE.exec(spelled.replace(/[ .-]/g, '')) ?? [];
  if (mobile !== undefined) return { number: `+${COUNTRY_CODE}${mobile}`, isValid: true };
  const local = parseWhole(spelled);
  if (local && isValid(local)) return toReading(local);
  return readWithoutPlus(spelled) ?? (local && isUsable(local) ? toReading(local) : undefined);
}

/** Whether a numbering plan has this number. */
export function isValid(phone: PhoneNumber): boolean {
  return phone.countryCallingCode === COUNTRY_CODE ? NATIONAL.test(phone.nationalNumber) : phone.isValid();
}

/** With 971 in front it is no local number even if it is too short or too long; any other country code has to fit. */
function readWithoutPlus(spelled: string): NumberReading | undefined {
  if (!/^[1-9]|^0971/.test(spelled)) return undefined;
  const phone = parseWhole(`+${spelled.replace(/^0/, '')}`);
  if (!phone) return undefined;
  if (phone.countryCallingCode === COUNTRY_CODE) return isUsable(phone) ? toReading(phone) : undefined;
  const isLong = phone.number.length > MIN_FOREIGN_DIGITS;
  return isLong && isValid(phone) ? { ...toReading(phone), isPlusAssumed: true } : undefined;
}

function toCommonSpelling(text: string): string {
  return toAsciiDigits(removeInvisible(text))
    .replace(/^tel:|^\+(?=\s*(?:\+|00))/i, '')
    .replace(/[()_]/g, ' ')
    .replace(/تحويلة|داخلي/, 'ext')
    .trim();
}

/** Possible, and the same number when read again: of "+971 0000…" every reading would strip another zero. */
function isUsable(phone: PhoneNumber): boolean {
  return phone.isPossible() && parseWhole(phone.number)?.number === phone.number;
}

/** The whole text has to be the number: what is picked out of a longer text would drop a second number, or a name. */
function parseWhole(text: string): PhoneNumber | undefined {
  return parsePhoneNumberFromString(text, { defaultCountry: DEFAULT_REGION, extract: false });
}

function toReading(phone: PhoneNumber): NumberReading {
  return { number: phone.number, extension: phone.ext, isValid: isValid(phone) };
}
