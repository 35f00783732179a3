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

/** Eight digits that can be no fixed line of which only the 0 is missing, whose second digit is 2 to 8: a date, rather. */
const NO_FIXED_LINE = /^[2-4679][019]\d{6}$/;

/** An identity card of the Emirates: 784, the year of birth, seven digits and a check digit. */
const EMIRATES_ID = /^784(?:19|20)\d{10}$/;

/** The longest extension there is; what is longer is a second number. */
const MAX_EXTENSION = 5;

/** Longer texts are no phone number, for libphonenumber neither. */
const MAX_LENGTH = 250;

/** With fewer digits, and no plus, a mistyped local number is likelier than a foreign one (5012345678 from Belize). */
const MIN_FOREIGN_DIGITS = 11;

/**
 * Reads a text that is a phone number and nothing else, in whichever usual spelling; one without country code is of the
 * Emirates. Undefined when it is no possible number.
 */
export function readNumber(text: string): NumberReading | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const spelled = toCommonSpelling(text);
  const digits = spelled.replace(/[ .-]/g, '');
  const [, mobile] = MOBILE.exec(digits) ?? [];
  if (mobile !== undefined) return { number: `+${COUNTRY_CODE}${mobile}`, isValid: true };
  if (EMIRATES_ID.test(digits.replace(/^00/, ''))) return undefined;
  const local = parseWhole(spelled);
  if (local && isValid(local)) return { ...toReading(local), isValid: !NO_FIXED_LINE.test(digits) };
  return readWithoutPlus(spelled) ?? (local && isUsable(local) ? toReading(local) : undefined);
}

/** Whether a numbering plan has this number. */
export function isValid(phone: PhoneNumber): boolean {
  if (EMIRATES_ID.test(phone.number.slice(1))) return false;
  return phone.countryCallingCode === COUNTRY_CODE ? NATIONAL.test(phone.nationalNumber) : phone.isValid();
}

/** With 971 in front it is no local number even if it is too short or too long; any other country code has to fit. */
function readWithoutPlus(spelled: string): NumberReading | undefined {
  if (!/^[1-9]/.test(spelled)) return undefined;
  const phone = parseWhole(`+${spelled}`);
  if (!phone) return undefined;
  if (phone.countryCallingCode === COUNTRY_CODE) return isUsable(phone) ? toReading(phone) : undefined;
  const isLong = phone.number.length > MIN_FOREIGN_DIGITS;
  return isLong && isValid(phone) ? { ...toReading(phone), isPlusAssumed: true } : undefined;
}

/** Without what people and spreadsheets put around a number, and with one way to write 971 in front of it. */
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

/** Possible, and the same number when read again: of "+971 0000…" every reading would strip another zero. */
function isUsable(phone: PhoneNumber): boolean {
  return phone.isPossible() && parseWhole(toCommonSpelling(phone.number))?.number === phone.number;
}

/** The whole text has to be the number: what is picked out of a longer text would drop a second number, or a name. */
function parseWhole(text: string): PhoneNumber | undefined {
  const phone = parsePhoneNumberFromString(text, { defaultCountry: DEFAULT_REGION, extract: false });
  return phone?.ext && phone.ext.length > MAX_EXTENSION ? undefined : phone;
}

function toReading(phone: PhoneNumber): NumberReading {
  return { number: phone.number, extension: phone.ext, isValid: isValid(phone) };
}
