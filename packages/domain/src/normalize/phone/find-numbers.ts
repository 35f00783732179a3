import { findPhoneNumbersInText } from 'libphonenumber-js/min';
import { toAsciiDigits } from '../digits.ts';
import { DEFAULT_REGION, isValid, type NumberReading, readNumber } from './read-number.ts';

/** A free text is searched no further than this, to bound the time it takes. */
const MAX_SEARCHED = 300;

/**
 * What people put between two numbers. A slash, a dash or # only where another number can begin, for "04/1234567" is one,
 * or a slash where a few digits more name a second line: "04 1234567/8".
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

/** The shortest local number. Parts with fewer digits need not be searched, which takes long. */
const MIN_DIGITS = 7;

/** How a number begins in the midst of other text, where eight digits are as likely a date. */
const CLEAR_BEGINNING = /^(?:\+|0|5\d{8}|971|800\d{3}|600\d{6})/;

/** Two local numbers with nothing but blanks between them, which libphonenumber takes for one. */
const LOCAL_NUMBERS = /(?<![\d+])0(?:5\d|[2-4679])(?:[ .-]?\d){7}(?!\d)/g;

/** Not a pair of phone numbers but of degrees. */
const COORDINATES = /^-?\d{1,3}\.\d{4,},\s*-?\d{1,3}\.\d{4,}$/;

/** The valid phone numbers in a text, in their order, and whether it holds nothing else. */
export function findNumbers(text: string): { numbers: NumberReading[]; isAllNumbers: boolean } {
  if (COORDINATES.test(text)) return { numbers: [], isAllNumbers: false };
  const parts = splitNumbers(text);
  const whole = parts.map(readValid);
  return {
    numbers: parts.flatMap((part, index) => whole[index] ?? searchPart(part)),
    isAllNumbers: whole.every((reading) => reading !== undefined),
  };
}

/** The first phone number in a text that may be about anything. */
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
