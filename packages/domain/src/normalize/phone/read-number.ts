import { type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { removeInvisible, toAsciiDigits } from '../text.ts';

/** The region of numbers without country code. */
export const DEFAULT_REGION = 'AE';
const COUNTRY_CODE = '971';

/** A phone number in E.164, with its extension and what was uncertain about it. */
export type NumberReading = {
  number: string;
  extension?: string | undefined;
  isValid: boolean;
  /** Whether a foreign country code was written without + or 00. */
  isPlusAssumed?: boolean;
};

/** A fast path for Emirati mobile numbers, which nearly every order has. */
const MOBILE = /^(?:\+971|00971|971|0)?(5[02-68]\d{7})$/;

/**
 * National numbers of the Emirates: fixed lines, mobiles, toll-free and premium ranges. The minimal metadata of libphonenumber would accept
 * a fixed line with a surplus digit. Only mobile prefixes are exact to the operator.
 */
const NATIONAL = /^(?:[2-4679]\d{7}|5[02-68]\d{7}|800\d{2,9}|(?:400|[679]00)\d{6})$/;

/** Eight digits that are more likely a date: in a fixed line without its 0, the second digit is 2 to 8. */
const NOT_FIXED_LINE = /^[2-4679][019]\d{6}$/;

/** An Emirates ID: 784, the year of birth, seven digits and a check digit. */
const EMIRATES_ID = /^784(?:19|20)\d{10}$/;

/** A longer "extension" is a second number. */
const MAX_EXTENSION = 5;

/** The same limit as libphonenumber's. */
const MAX_LENGTH = 250;

/** With fewer digits and no plus, a mistyped local number is likelier than a foreign one (5012345678 in Belize). */
const MIN_FOREIGN_DIGITS = 11;

/**
 * Reads a string that is one phone number in any usual spelling; without country code it is Emirati. Undefined if it is not a possible
 * number.
 */
export function readNumber(text: string): NumberReading | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const spelled = MOBILE.test(text) ? text : toCommonSpelling(text);
  const digits = spelled.replace(/[ .-]/g, '');
  const [, mobile] = MOBILE.exec(digits) ?? [];
  if (mobile !== undefined) return { number: `+${COUNTRY_CODE}${mobile}`, isValid: true };
  if (EMIRATES_ID.test(digits.replace(/^00/, ''))) return undefined;
  const local = parseWhole(spelled);
  if (local && isValid(local)) return { ...toReading(local), isValid: !NOT_FIXED_LINE.test(digits) };
  return readWithoutPlus(spelled) ?? (local && isUsable(local) ? toReading(local) : undefined);
}

/** Whether the number exists in a numbering plan. */
export function isValid(phone: PhoneNumber): boolean {
  if (EMIRATES_ID.test(phone.number.slice(1))) return false;
  return phone.countryCallingCode === COUNTRY_CODE ? NATIONAL.test(phone.nationalNumber) : phone.isValid();
}

/** A number that begins with 971 is never local, even if its length is wrong; with any other country code it must be valid. */
function readWithoutPlus(spelled: string): NumberReading | undefined {
  if (!/^[1-9]/.test(spelled)) return undefined;
  const phone = parseWhole(`+${spelled}`);
  if (!phone) return undefined;
  if (phone.countryCallingCode === COUNTRY_CODE) return isUsable(phone) ? toReading(phone) : undefined;
  const isLong = phone.number.length > MIN_FOREIGN_DIGITS;
  return isLong && isValid(phone) ? { ...toReading(phone), isPlusAssumed: true } : undefined;
}

/** Removes decoration by people and spreadsheets, and unifies the spellings of the prefix 971. */
function toCommonSpelling(text: string): string {
  return toAsciiDigits(removeInvisible(text))
    .replace(/[()_]/g, ' ')
    .replace(/^(?:tel:|['"\s])+|[\s'",;.]+$/gi, '')
    .replace(/^[+0\s]*0\s*(?=971[\d\s.-]{8})/, '+')
    .replace(/^\+?971[\s.-]*(?=971[\s.-]*5(?:[\s.-]*\d){8}$)/, '+')
    .replace(/^\+\s*(?=[+0])/, '')
    .replace(/^(\d{7,})\.0+$/, '$1')
    .replace(/تحويلة|داخلي|\bex\b\.?/i, 'ext');
}

/** Possible, and stable when read again: each reading of "+971 0000…" would strip another zero. */
function isUsable(phone: PhoneNumber): boolean {
  return phone.isPossible() && parseWhole(toCommonSpelling(phone.number))?.number === phone.number;
}

/** Requires the whole string to be the number: extracting one from longer text would drop a second number or a name. */
function parseWhole(text: string): PhoneNumber | undefined {
  const phone = parsePhoneNumberFromString(text, { defaultCountry: DEFAULT_REGION, extract: false });
  return phone?.ext && phone.ext.length > MAX_EXTENSION ? undefined : phone;
}

function toReading(phone: PhoneNumber): NumberReading {
  return { number: phone.number, extension: phone.ext, isValid: isValid(phone) };
}
