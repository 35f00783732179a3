import { findPhoneNumbersInText } from 'libphonenumber-js/min';
import { toAsciiDigits } from '../text.ts';
import { DEFAULT_REGION, isValid, type NumberReading, readNumber } from './read-number.ts';

/** Max characters searched in free text, to bound the time. */
const MAX_SEARCHED = 300;

/**
 * Separators between two numbers. A slash, dash or # counts only where another number can begin, since "04/1234567" is one number; a slash
 * also before the last digits of a second line: "04 1234567/8".
 */
const BETWEEN = new RegExp(
  [
    /[,،;؛|\n&]/,
    /\s\/|\/\s|\/(?=[+0])|(?<=\d{6})\/(?=\d{1,3}(?:\D|$))/,
    /\s[-–—]\s|(?<=\d{7})[-–—](?=[+0])/,
    /#(?=\d{7})/,
    /\s(?:or|and|أو|او|و)\s/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/** Length of the shortest local number. Searching is slow, so parts with fewer digits are skipped. */
const MIN_DIGITS = 7;

/** Beginnings that identify a number within other text, where eight digits alone may be a date. */
const CLEAR_BEGINNING = /^(?:\+|0|5\d{8}|971|800\d{3}|600\d{6})/;

/** Local numbers separated only by spaces, which libphonenumber reads as one number. */
const LOCAL_NUMBERS = /(?<![\d+])0(?:5\d|[2-4679])(?:[ .-]?\d){7}(?!\d)/g;

/** Latitude and longitude, not two phone numbers. */
const COORDINATES = /^-?\d{1,3}\.\d{4,},\s*-?\d{1,3}\.\d{4,}$/;

/** The valid phone numbers in a string, in order, and whether it contains nothing else. */
export function findNumbers(text: string): { numbers: NumberReading[]; isAllNumbers: boolean } {
  if (COORDINATES.test(text)) return { numbers: [], isAllNumbers: false };
  const parts = splitNumbers(text);
  const whole = parts.map(readValid);
  return {
    numbers: parts.flatMap((part, index) => whole[index] ?? searchPart(part)),
    isAllNumbers: whole.every((reading) => reading !== undefined),
  };
}

/** The first unmistakable phone number in arbitrary text. */
export function findClearNumber(text: string): NumberReading | undefined {
  return splitNumbers(text)
    .flatMap(
      (part) => (CLEAR_BEGINNING.test(part.replace(/[^+\d]/g, '')) ? readValid(part) : undefined) ?? searchPart(part),
    )
    .find((reading) => !reading.isPlusAssumed);
}

function splitNumbers(text: string): string[] {
  return toAsciiDigits(text.slice(0, MAX_SEARCHED)).split(BETWEEN);
}

function readValid(part: string): NumberReading | undefined {
  const reading = readNumber(part.trim());
  return reading?.isValid ? reading : undefined;
}

function searchPart(part: string): NumberReading[] {
  if (part.replace(/\D/g, '').length < MIN_DIGITS) return [];
  const found = findPhoneNumbersInText(part, DEFAULT_REGION)
    .filter(({ startsAt, endsAt, number }) => {
      const written = part.slice(startsAt, endsAt).replace(/[^+\d]/g, '');
      return isValid(number) && CLEAR_BEGINNING.test(written);
    })
    .map(({ number: { number, ext } }) => ({ number, extension: ext, isValid: true }));
  return found.length > 0 ? found : [...part.matchAll(LOCAL_NUMBERS)].flatMap(([local]) => readValid(local) ?? []);
}
