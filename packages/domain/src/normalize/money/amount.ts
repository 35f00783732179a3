import { toAsciiDigits } from '../digits.ts';
import { removeInvisible } from '../text.ts';
import { type CurrencyReading, readCurrencyBeside } from './currency.ts';
import { type Decimal, splitDecimal } from './separators.ts';

/** An amount as written: its digits, its sign, and what the marks beside it stand for; null without marks. */
export type Amount = Decimal & { isNegative: boolean; currency: CurrencyReading | null };

/** "(5.00)" or "5.00-", as accountants write. */
const ACCOUNTING_NEGATIVE = /^\(([^()]+)\)$|^(.*\d) ?-$/;

/** Longer texts beside a number are no currency. */
const MAX_MARKS = 100;

/**
 * Reads an amount of money from text, digit for digit: "149.50", "AED 1,250.5", "٩٩٫٥٠ درهم", "$20", "99/-". Null when
 * there is no number, more than one, or anything but a currency beside it.
 */
export function readAmount(text: string): Amount | null {
  const sent = toAsciiSpelling(text);
  const [, inBrackets, beforeMinus] = ACCOUNTING_NEGATIVE.exec(sent) ?? [];
  const negative = inBrackets ?? beforeMinus;
  const spelled = negative ?? sent;
  const [start, end] = findNumber(spelled);
  const decimal = splitDecimal(spelled.slice(start, end));
  const before = spelled.slice(0, start);
  const currency = readMarks(before, spelled.slice(end));
  if (decimal === null || currency === undefined) return null;
  return { ...decimal, isNegative: negative !== undefined || before.includes('-'), currency };
}

/** ASCII digits and separators for Arabic ones, one kind each of blank, apostrophe and minus, and no quotes around it. */
function toAsciiSpelling(text: string): string {
  return toAsciiDigits(removeInvisible(text))
    .replace(/[٫．]/g, '.')
    .replace(/[٬’]/g, "'")
    .replace(/[،，]/g, ',')
    .replace(/[−–]/g, '-')
    .replace(/\s/g, ' ')
    .replace(/^['"]|['"]$/g, '');
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

/** "99/-", "99.-", "Dhs 99 only": what merchants write behind an amount and what says nothing. */
const ENDING = /^(?:[.,]-{0,2}(?= |$))|(?:^|(?<=\S))\/[-=]|(?:^| )(?:only|فقط)\.?$/gi;

/** What all marks before and behind the number agree on, null without any; undefined if there is anything else beside it. */
function readMarks(before: string, behind: string): CurrencyReading | null | undefined {
  // "AED - 99" may be a label as well as a negative amount.
  if (before.length + behind.length > MAX_MARKS || /\S - $/.test(before)) return undefined;
  const marks = [before.replace(/[-+]/, ''), behind.replace(ENDING, '')].flatMap(readSide);
  if (marks.length === 0) return null;
  if (marks.includes(undefined)) return undefined;
  return (marks as CurrencyReading[]).reduce<CurrencyReading | undefined>(
    (all, mark) => all && agree(all, mark),
    marks[0],
  );
}

/** A mark of several words is one ("UAE Dirham"), if it is known; else each of its words is ("Dhs AED"). */
function readSide(text: string): (CurrencyReading | undefined)[] {
  const whole = readCurrencyBeside(text.trim());
  if (whole) return [whole];
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(readCurrencyBeside);
}

/** "$" and "CAD" agree on the Canadian dollar, "AED" and "USD" on nothing. */
function agree(one: CurrencyReading, other: CurrencyReading): CurrencyReading | undefined {
  const codes = one.codes.filter((code) => other.codes.includes(code));
  if (codes.length === 0) return undefined;
  const named = [codes.length === 1 ? codes[0] : null, one.named, other.named].find(
    (code) => code && codes.includes(code),
  );
  return { codes, named: named ?? null };
}
