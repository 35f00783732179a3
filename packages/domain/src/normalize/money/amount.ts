import { toAsciiDigits } from '../digits.ts';
import { removeInvisible } from '../text.ts';
import { findCurrenciesBeside } from './currency.ts';
import { type Decimal, splitDecimal } from './separators.ts';

/** An amount as written: its digits, its sign, and the currencies that the marks beside it may stand for; none without marks. */
export type Amount = Decimal & { isNegative: boolean; currencies: readonly string[] };

/**
 * Reads an amount of money from text, digit for digit: "149.50", "AED 1,250.5", "٩٩٫٥٠ درهم", "$20", "99/-". Null when
 * there is no number, more than one, or anything but a currency beside it.
 */
export function readAmount(text: string): Amount | null {
  const spelled = toAsciiSpelling(text);
  const [start, end] = findNumber(spelled);
  if (start === end) return null;
  const decimal = splitDecimal(spelled.slice(start, end));
  const before = spelled.slice(0, start);
  const currencies = readMarks(before.replace(/[-+]/, ''), spelled.slice(end));
  if (decimal === null || currencies === undefined) return null;
  return { ...decimal, isNegative: before.includes('-'), currencies };
}

/** ASCII digits and separators for Arabic ones, and one kind each of blank, apostrophe and minus. */
function toAsciiSpelling(text: string): string {
  return toAsciiDigits(removeInvisible(text))
    .replaceAll('٫', '.')
    .replace(/[٬’]/g, "'")
    .replaceAll('،', ',')
    .replaceAll('−', '-')
    .replace(/\s/g, ' ');
}

/** From the first digit, or the decimal point before it, to behind the last one. An empty range if there is no digit. */
function findNumber(text: string): [start: number, end: number] {
  const first = text.search(/\d/);
  if (first < 0) return [0, 0];
  let end = text.length;
  while (!isDigit(text.charCodeAt(end - 1))) end--;
  // ".50" begins with its decimal point; the point of "Dhs.50" ends an abbreviation.
  const isPointed = /(?:^|[^\p{L}])[.,]$/u.test(text.slice(Math.max(0, first - 2), first));
  return [isPointed ? first - 1 : first, end];
}

function isDigit(charCode: number): boolean {
  return charCode >= 0x30 && charCode <= 0x39;
}

/** "99/-", "99.-", "99 only": what merchants write behind an amount and what says nothing. */
const ENDING = /^(?:\/[-=]|[.,]-{1,2}|\.(?= |$))|(?:^| )(?:only|فقط)[.]?$/gi;

/** The currencies that all marks before and behind the number agree on; undefined if there is anything else beside it. */
function readMarks(before: string, behind: string): readonly string[] | undefined {
  const marks = [before.trim(), behind.replace(ENDING, '').trim()].filter((mark) => mark !== '');
  const [first, ...others] = marks.map(findCurrenciesBeside);
  if (first === undefined) return [];
  const agreed = others.reduce((left, right) => left.filter((code) => right.includes(code)), first);
  return agreed.length > 0 ? agreed : undefined;
}
