import { LIMITS } from '../../interface-limits.ts';
import { cutText, partsOf, readUnlimitedText, toAsciiDigits } from '../text.ts';
import type { WarningList } from '../warnings.ts';
import { findClearNumber, findNumbers } from './find-numbers.ts';
import { type NumberReading, readNumber } from './read-number.ts';

/**
 * Reads a phone number as E.164, followed by " ext. N" if it has an extension or a code to enter. Numbers without country code are Emirati. The first of
 * several numbers is read. Text without a possible number is kept as sent, with a warning, because the driver may need it.
 */
export function readPhone(value: unknown, pointer: string, warnings: WarningList): string | null {
  const text = readUnlimitedText(toOneText(value, pointer, warnings), pointer, warnings);
  if (text === null) return null;
  const phone = readKnownForm(text, pointer, warnings);
  if (phone !== undefined) return phone;
  const kept = cutText(text, pointer, LIMITS.phone, warnings);
  if (kept === null) return null;
  // Read again after cutting, so that normalizing the stored value finds no further number.
  const phoneInKept = kept === text ? undefined : readKnownForm(kept, pointer, warnings);
  if (phoneInKept !== undefined) return phoneInKept;
  warnings.add(pointer, 'phone_unreadable');
  return kept;
}

/** The first unmistakable phone number in arbitrary text, in the format of `readPhone`; null if there is none. */
export function findPhone(text: string): string | null {
  const found = findClearNumber(text);
  return found ? writeNumber(found) : null;
}

/** The code of a country. */
const WITH_PLUS = /^(?:\+|00)\d{1,3}$/;

/** Parts may be those of one number (country code, operator, number), a number and its code, or several numbers. */
function toOneText(value: unknown, pointer: string, warnings: WarningList): unknown {
  if (typeof value !== 'object' || value === null) return value;
  warnings.add(pointer, 'phone_in_parts');
  const code = Object.entries(value).find(isCodeMember);
  const { [code?.[0] ?? '']: _, ...others } = value as Record<string, unknown>;
  const number = joinParts(others);
  if (code && readNumber(number)?.isValid) return `${number} ext. ${code[1]}`;
  const joined = joinParts(value);
  return readNumber(joined)?.isValid ? joined : partsOf(value).join(', ');
}

/** With a code of a country first. */
function joinParts(value: object): string {
  const parts = partsOf(value);
  const isFirst = (part: string) => WITH_PLUS.test(part);
  return [...parts.filter(isFirst), ...parts.filter((part) => !isFirst(part))].join(' ');
}

/** Reads one number, several, one within text, or one from a spreadsheet; undefined if it is none of these. */
function readKnownForm(text: string, pointer: string, warnings: WarningList): string | null | undefined {
  const whole = readNumber(text);
  const clear = whole?.isValid ? whole : readWithCode(text);
  if (clear) return writeWithWarnings(clear, pointer, warnings);
  const scientific = readScientific(text);
  if (scientific) return readSpreadsheetNumber(text, scientific, pointer, warnings);
  const { numbers, isAllNumbers } = findNumbers(text);
  const [first, second] = numbers;
  if (!first) return whole && writeWithWarnings(whole, pointer, warnings);
  if (second) warnings.add(pointer, 'phone_second_number');
  if (!isAllNumbers) warnings.add(pointer, 'phone_with_text');
  return writeWithWarnings(first, pointer, warnings);
}

function readSpreadsheetNumber(
  text: string,
  scientific: ScientificReading,
  pointer: string,
  warnings: WarningList,
): string | null | undefined {
  if (scientific === 'rounded') {
    warnings.add(pointer, 'phone_digits_lost');
    return cutText(text, pointer, LIMITS.phone, warnings);
  }
  const number = readNumber(scientific.digits);
  if (!number) return undefined;
  warnings.add(pointer, 'phone_scientific');
  return writeWithWarnings(number, pointer, warnings);
}

function writeWithWarnings(reading: NumberReading, pointer: string, warnings: WarningList): string {
  if (!reading.isValid) warnings.add(pointer, 'phone_not_valid');
  if (reading.isPlusAssumed) warnings.add(pointer, 'phone_without_plus');
  if (reading.extension) warnings.add(pointer, 'phone_extension');
  return writeNumber(reading);
}

function writeNumber({ number, extension }: NumberReading): string {
  return extension ? `${number} ext. ${extension}` : number;
}

/** The digits of a number in scientific notation, or `rounded` if some were lost. */
type ScientificReading = { digits: string } | 'rounded';

/**
 * Reads an integer in scientific notation, as spreadsheets format long numbers: "5.01234567E8" is 501234567; "9.71501E+11" has lost its last
 * digits. Undefined for any other text.
 */
function readScientific(text: string): ScientificReading | undefined {
  const [, first, rest = '', exponent] = /^\+?(\d)(?:[.,٫](\d+))?\s?e\+?(\d{1,2})$/i.exec(toAsciiDigits(text)) ?? [];
  if (first === undefined) return undefined;
  const digits = first + rest;
  const length = Number(exponent) + 1;
  if (digits.length < length) return 'rounded';
  return /^0*$/.test(digits.slice(length)) ? { digits: digits.slice(0, length) } : undefined;
}

/** Max length of a number with its code. */
const MAX_CODED = 100;

/** A code that the caller must enter. */
const CODE = /^\d(?:[ -]?\d){1,9}$/;

const WORDS = [
  ...[
    ...['ext(?:n|ension)?', 'x', '(?:(?:access|pin) |pass)?code', 'pin', 'pass(?:word)?', 'otp', 'id'],
    '(?:(?:and|then) )?(?:dial|press|enter)',
  ].map((word) => String.raw`\b${word}`),
  '(?:رقم )?(?:ال)?(?:رمز|كود|تحويلة|داخلي|رقم السري)(?: الدخول)?',
  ...['分机号?', '转', 'доб'],
].join('|');
/** Before a code: a word for it, or a pause that is none between two numbers. */
const CLEAR = new RegExp(String.raw`[,،;.([/–—-]?\s{0,3}(?:${WORDS})\.?\s{0,3}[:=#-]?\s{0,3}|,,+`, 'gi');
const PAUSE = /[;_#~pw]/gi;
/** Also between the parts of a number. */
const GAP = /[,. ]/g;
const MIN_AFTER_GAP = 4;

/** A masked number with the code that leads to the customer: without it, the driver reaches nobody. */
function readWithCode(text: string): NumberReading | undefined {
  if (text.length > MAX_CODED) return undefined;
  const spelled = toAsciiDigits(text).replace(/[\s#)\]]+$/, '');
  const isNoNumber = (code: string) => !code.startsWith('0') && !readNumber(code)?.isValid;
  return (
    splitCode(spelled, CLEAR, () => true) ??
    splitCode(spelled, PAUSE, isNoNumber) ??
    splitCode(spelled, GAP, (code) => code.length >= MIN_AFTER_GAP && isNoNumber(code))
  );
}

/** The number before a separator, with the code behind it. */
function splitCode(text: string, separator: RegExp, isPossible: (code: string) => boolean): NumberReading | undefined {
  for (const { 0: found, index } of text.matchAll(separator)) {
    const code = text.slice(index + found.length).trim();
    const digits = code.replace(/\D/g, '');
    const number = CODE.test(code) && isPossible(digits) ? readNumber(text.slice(0, index)) : undefined;
    if (number?.isValid && number.extension === undefined) return { ...number, extension: digits };
  }
  return undefined;
}

/** Members with a code to enter, in small letters, without underscores and hyphens. */
const CODE_MEMBERS: ReadonlySet<string> = new Set(
  'ext extension pin pincode passcode accesscode phoneaccesscode phonecode code localizer'.split(' '),
);
/** The code of a country has at most three digits. */
const MAX_COUNTRY_CODE = 3;

/** Whether a member of an object has the code of the number beside it. */
function isCodeMember([member, value]: [string, unknown]): boolean {
  const name = member.toLowerCase().replace(/[^a-z]/g, '');
  const text = String(value);
  return CODE_MEMBERS.has(name) && CODE.test(text) && (text.length > MAX_COUNTRY_CODE || !name.endsWith('code'));
}
