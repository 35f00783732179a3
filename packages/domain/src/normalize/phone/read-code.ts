import { toAsciiDigits } from '../text.ts';
import { type NumberReading, readNumber } from './read-number.ts';

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
export function readWithCode(text: string): NumberReading | undefined {
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
export function isCodeMember([member, value]: [string, unknown]): boolean {
  const name = member.toLowerCase().replace(/[^a-z]/g, '');
  const text = String(value);
  return CODE_MEMBERS.has(name) && CODE.test(text) && (text.length > MAX_COUNTRY_CODE || !name.endsWith('code'));
}
