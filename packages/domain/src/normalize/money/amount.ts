import { removeInvisible, toAsciiDigits } from '../text.ts';
import { type CurrencyReading, readCurrencyBeside } from './currency.ts';

/** Both sides of the decimal point. `isAmbiguous`: another reading is nearly as likely. */
type Decimal = { whole: string; fraction: string; isAmbiguous: boolean };

/** Groups of three digits after the first, or Indian grouping: groups of two and a last one of three. */
const GROUPED = /^\d{1,3}(?:([,.' ])\d{3})(?:\1\d{3})*$|^\d{1,2}(?:,\d{2})*,\d{3}$/;

/**
 * Reads "1250.50", "1,250.50", "1.250,50", "1 250,5" or ",50". The last of two kinds of separator is the decimal one. A single separator
 * before three digits is a thousands separator if a comma, a decimal one if a point. Null if the separators form no number.
 */
function splitDecimal(text: string): Decimal | null {
  if (/^\d+$/.test(text)) return { whole: text, fraction: '', isAmbiguous: false };
  const single = readSingleComma(text);
  if (single) return single;
  const [, whole, point, fraction] = /^(.*)([.,])(\d+)$/.exec(text) ?? [];
  if (whole !== undefined && point && fraction && !whole.includes(point) && isWhole(whole)) {
    // "1,2500" may also be a mistyped thousands separator.
    const isAmbiguous = point === ',' && fraction.length > 3 && /^\d+$/.test(whole);
    return { whole: ungroup(whole) || '0', fraction, isAmbiguous };
  }
  return GROUPED.test(text) ? { whole: ungroup(text), fraction: '', isAmbiguous: false } : null;
}

/** A single comma before three digits. "0,500" cannot be thousands; "1234,567" is ambiguous. */
function readSingleComma(text: string): Decimal | undefined {
  const [, before, after] = /^(\d+),(\d{3})$/.exec(text) ?? [];
  if (before === undefined || after === undefined) return undefined;
  if (/^0+$/.test(before)) return { whole: '0', fraction: after, isAmbiguous: true };
  return { whole: before + after, fraction: '', isAmbiguous: before.length > 3 };
}

function isWhole(text: string): boolean {
  return /^\d*$/.test(text) || GROUPED.test(text);
}

function ungroup(text: string): string {
  return text.replace(/[,.' ]/g, '');
}

/** An amount as written: its digits, its sign, and the meaning of the currency marks beside it; null without marks. */
export type Amount = Decimal & { isNegative: boolean; currency: CurrencyReading | null };

/** "(5.00)" or "5.00-", negative amounts in accounting. */
const ACCOUNTING_NEGATIVE = /^\(([^()]+)\)$|^(.*\d) ?-$/;

/** Longer text beside a number is not a currency. */
const MAX_MARKS = 100;

/**
 * Reads an amount of money digit by digit: "149.50", "AED 1,250.5", "٩٩٫٥٠ درهم", "$20", "99/-". Null if there is not exactly one number,
 * or anything but a currency beside it.
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

/** Unifies digits, separators, spaces, apostrophes and minus signs to ASCII, and removes enclosing quotes. */
function toAsciiSpelling(text: string): string {
  return toAsciiDigits(removeInvisible(text))
    .replace(/[٫．]/g, '.')
    .replace(/[٬’]/g, "'")
    .replace(/[،，]/g, ',')
    .replace(/[−–]/g, '-')
    .replace(/\s/g, ' ')
    .replace(/^['"]|['"]$/g, '');
}

/** The range from the first digit, or the decimal point before it, through the last digit; empty if there is none. */
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

/** "99/-", "99.-", "Dhs 99 only": endings without meaning that merchants write after an amount. */
const ENDING = /^(?:[.,]-{0,2}(?= |$))|(?:^|(?<=\S))\/[-=]|(?:^| )(?:only|فقط)\.?$/gi;

/** The currency on which all marks around the number agree; null without marks, undefined if there is any other text. */
function readMarks(before: string, after: string): CurrencyReading | null | undefined {
  // "AED - 99" may be a label or a negative amount.
  if (before.length + after.length > MAX_MARKS || /\S - $/.test(before)) return undefined;
  const marks = [before.replace(/[-+]/, ''), after.replace(ENDING, '')].flatMap(readSide);
  if (marks.length === 0) return null;
  if (marks.includes(undefined)) return undefined;
  return (marks as CurrencyReading[]).reduce<CurrencyReading | undefined>(
    (all, mark) => all && agree(all, mark),
    marks[0],
  );
}

/** A known mark may have several words ("UAE Dirham"); otherwise each word is a mark ("Dhs AED"). */
function readSide(text: string): (CurrencyReading | undefined)[] {
  const whole = readCurrencyBeside(text.trim());
  if (whole) return [whole];
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(readCurrencyBeside);
}

/** "$" and "CAD" agree on the Canadian dollar, "AED" and "USD" on nothing. */
function agree(a: CurrencyReading, b: CurrencyReading): CurrencyReading | undefined {
  const codes = a.codes.filter((code) => b.codes.includes(code));
  if (codes.length === 0) return undefined;
  const named = [codes.length === 1 ? codes[0] : null, a.named, b.named].find((code) => code && codes.includes(code));
  return { codes, named: named ?? null };
}
