import { LIMITS } from '../limits.ts';
import { cutText, partsOf, readUnlimitedText, toAsciiDigits } from '../text.ts';
import type { WarningList } from '../warnings.ts';
import { findClearNumber, findNumbers } from './find-numbers.ts';
import { isCodeMember, readWithCode } from './read-code.ts';
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
