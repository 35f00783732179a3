import { findPhoneNumbersInText } from 'libphonenumber-js/min';
import { toAsciiDigits } from '../digits.ts';
import { DEFAULT_REGION, isValid, type NumberReading, readNumber } from './read-number.ts';

/** A free text is searched no further than this, to bound the time it takes. */
const MAX_SEARCHED = 300;

/**
 * What people put between two numbers. A slash or dash only where another number can begin, for "04/1234567" is one, or
 * where a few digits more name a second line: "04 1234567/8".
 */
const BETWEEN =
  /[,،;؛|\n&]|\s\/|\/\s|\/(?=[+0])|(?<=\d{6})\/(?=\d{1,3}(?:\D|$))|\s(?:or|and|أو|او|و)\s|\s[-–—]\s|(?<=\d{7})[-–—](?=[+0])/i;

/** The shortest local number. Parts with fewer digits need not be searched, which takes long. */
const MIN_DIGITS = 7;

/** The valid phone numbers in a free text, in their order, and whether it holds nothing else. */
export function findNumbers(text: string): { numbers: NumberReading[]; isAllNumbers: boolean } {
  const parts = toAsciiDigits(text.slice(0, MAX_SEARCHED)).split(BETWEEN);
  const whole = parts.map(readCertain);
  return {
    numbers: parts.flatMap((part, index) => whole[index] ?? searchPart(part)),
    isAllNumbers: whole.every((reading) => reading !== undefined),
  };
}

function readCertain(part: string): NumberReading | undefined {
  const reading = readNumber(part.trim());
  return reading?.isValid && !reading.isPlusAssumed ? reading : undefined;
}

function searchPart(part: string): NumberReading[] {
  if (part.replace(/\D/g, '').length < MIN_DIGITS) return [];
  const found = findPhoneNumbersInText(part, DEFAULT_REGION).map(({ number }) => number);
  return found.filter(isValid).map(({ number, ext }) => ({ number, extension: ext, isValid: true }));
}
