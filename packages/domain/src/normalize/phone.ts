import { findPhoneNumbersInText, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { toAsciiDigits } from './digits.ts';
import { LIMITS } from './limits.ts';
import { readText } from './text.ts';
import type { WarningList } from './warnings.ts';

const REGION = 'AE';
const CALLING_CODE = '971';

/** A free text is searched for a phone number no further than this, to bound the time it takes. */
const MAX_SEARCHED = 1_000;

/**
 * Reads a phone number as E.164, with " ext. N" behind it if it has an extension; a number without country code is one
 * of the Emirates. What is not a possible number is kept as sent, with a warning: the driver needs it.
 */
export function readPhone(value: unknown, pointer: string, warnings: WarningList): string | null {
  const text = readText(value, pointer, LIMITS.phone, warnings);
  if (text === null) return null;
  const phone = parsePhone(text);
  const isValid = phone?.isValid();
  if (!phone || (!isValid && !isUsable(phone))) {
    warnings.add(pointer, 'phone_unreadable');
    return text;
  }
  if (!isValid) warnings.add(pointer, 'phone_not_valid');
  if (!phone.ext) return phone.number;
  warnings.add(pointer, 'phone_extension');
  return `${phone.number} ext. ${phone.ext}`;
}

/** The first valid phone number written somewhere in a text, as E.164. */
export function findPhone(text: string): string | null {
  const [found] = findPhoneNumbersInText(toAsciiDigits(text.slice(0, MAX_SEARCHED)), REGION);
  return found?.number.number ?? null;
}

function parsePhone(text: string): PhoneNumber | undefined {
  const spelled = toAsciiDigits(text)
    .replace(/^tel:|^\+(?=00)/i, '')
    .replace(/[()]/g, ' ')
    .trim();
  const phone = parseWhole(spelled);
  // 971… without plus is only taken for a country code when the rest is valid; taking it for a local number is worse.
  if (spelled.startsWith(CALLING_CODE) && !phone?.isValid()) return parseWhole(`+${spelled}`) ?? phone;
  return phone;
}

/** Possible, and the same number when read again: of "+971 0000…" every reading would strip another zero. */
function isUsable(phone: PhoneNumber): boolean {
  const again = parseWhole(phone.number);
  return phone.isPossible() && again?.number === phone.number;
}

/** The whole text has to be the number: what is picked out of a longer text would drop a second number, or a name. */
function parseWhole(text: string): PhoneNumber | undefined {
  return parsePhoneNumberFromString(text, { defaultCountry: REGION, extract: false });
}
