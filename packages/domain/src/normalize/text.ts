import Big from 'big.js';
import type { WarningList } from './warnings.ts';

/** Longer than any field. The rest would be cut off anyway, and formatting a list of large numbers is slow. */
const MAX_LENGTH = 10_000;

/**
 * The strings and numbers inside an object or list, at any depth, in document order. Other values, such as booleans, are skipped.
 */
export function partsOf(value: object): string[] {
  const parts: string[] = [];
  collectParts(value, parts, 0);
  return parts;
}

/** Appends the parts of `value`; `length` is the number of characters so far. Returns the new length. */
function collectParts(value: unknown, parts: string[], length: number): number {
  if (length > MAX_LENGTH) return length;
  const part = toPart(value);
  if (part !== '') {
    parts.push(part);
    return length + part.length;
  }
  if (typeof value !== 'object' || value === null) return length;
  return Object.values(value).reduce<number>((sum, inner) => collectParts(inner, parts, sum), length);
}

function toPart(value: unknown): string {
  if (typeof value === 'number') return toDecimalText(value) ?? '';
  return typeof value === 'string' && removeForbidden(value) !== '' && !meansNothing(value) ? value.trim() : '';
}

/** Larger numbers are no name, code or amount, and their decimal string is far longer than the number. */
const MAX_SIZE = 1e40;

/**
 * The shortest decimal string, without exponent, that parses to the number. Undefined if the number is too large or too close to zero.
 */
export function toDecimalText(number: number): string | undefined {
  const size = Math.abs(number);
  if (!(size < MAX_SIZE && (size > 1 / MAX_SIZE || size === 0))) return undefined;
  const text = String(number);
  return text.includes('e') ? new Big(text).toFixed() : text;
}

/** The zeros of Arabic-Indic, Persian and full-width digits. */
const ZEROS = [0x0660, 0x06f0, 0xff10];

/** Replaces Arabic-Indic, Persian and full-width digits with 0 to 9. */
export function toAsciiDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => {
    const code = digit.charCodeAt(0);
    const zero = ZEROS.findLast((candidate) => candidate <= code) ?? code;
    return String(code - zero);
  });
}

/**
 * Characters that mislead readers or that Postgres or printers reject: control characters (including U+0000), bidirectional controls, lone
 * surrogates (`Cs`) and noncharacters.
 */
const FORBIDDEN = /[[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}]--[\n\t]]/v;
const EVERY_FORBIDDEN = new RegExp(FORBIDDEN, 'gv');

/** The word joiner, with which Shopify marks a neighbourhood, and the byte order mark: they say nothing to a reader. */
const MARKS = /[\u2060\ufeff]/g;

const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}]/u;

const GRAPHEMES = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * Reads a text field: trimmed, cleaned, at most `limit` code points; null if absent, white space only or of another type. A number becomes a decimal
 * string. Everything but trimming leaves a warning at `pointer`.
 */
export function readText(value: unknown, pointer: string, limit: number, warnings: WarningList): string | null {
  const text = readUnlimitedText(value, pointer, warnings);
  return text && cutText(text, pointer, limit, warnings);
}

/** The same without a length limit. */
export function readUnlimitedText(value: unknown, pointer: string, warnings: WarningList): string | null {
  if (value === undefined || value === null) return null;
  const text = cleanText(typeof value === 'string' ? value : toText(value, pointer, warnings), pointer, warnings);
  if (!meansNothing(text)) return text || null;
  warnings.add(pointer, 'means_nothing');
  return null;
}

/** What programs write for an absent value, spreadsheets for an error, and people into a field that they must fill. */
const NOTHING =
  /^(?:false|none|nil|n\/a|nan|(?:(?:undefined|null)[\s,]{0,2}){1,9}|\(null\)|<null>|\[object object\]|#(?:n\/a|ref!|value!|name\?|null!)|[-–—._*]+)$/i;

const MAX_NOTHING = 50;

export function meansNothing(text: string): boolean {
  return text.length <= MAX_NOTHING && NOTHING.test(text.trim());
}

/**
 * Removes forbidden characters, with a warning, and trims. Carriage returns become newlines. Text without visible characters, for example
 * a zero-width space, becomes empty.
 */
export function cleanText(text: string, pointer: string, warnings: WarningList): string {
  const trimmed = text.replace(MARKS, '').trim();
  if (!FORBIDDEN.test(trimmed) && (VISIBLE.test(trimmed) || trimmed === '')) return trimmed;
  warnings.add(pointer, 'characters_removed');
  return removeForbidden(trimmed);
}

/** Removes forbidden characters and trims; empty if nothing visible is left. */
export function removeForbidden(text: string): string {
  const cleaned = text.replace(MARKS, '').replace(/\r\n?/g, '\n').replace(EVERY_FORBIDDEN, '');
  return VISIBLE.test(cleaned) ? cleaned.trim() : '';
}

/** Removes joiners, zero-width spaces and soft hyphens, which numbers copied from web pages contain. */
export function removeInvisible(text: string): string {
  return text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
}

/** Cuts cleaned text to `limit` code points, with a warning, and trims its end; null if what is left means nothing. */
export function cutText(text: string, pointer: string, limit: number, warnings: WarningList): string | null {
  if (text.length <= limit) return text;
  let end = 0;
  for (let count = 0; count < limit && end < text.length; count++) end += isSurrogatePair(text, end) ? 2 : 1;
  if (end === text.length) return text;
  warnings.add(pointer, 'too_long', `Longer than ${limit} characters`);
  const kept = text.slice(0, wholeCharactersUpTo(end, text)).trimEnd();
  return VISIBLE.test(kept) && !meansNothing(kept) ? kept : null;
}

function isSurrogatePair(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}

/**
 * The last boundary of a grapheme cluster (UAX #29) at or before `end`; `end` itself if the first cluster is longer.
 */
function wholeCharactersUpTo(end: number, text: string): number {
  const character = GRAPHEMES.segment(text.slice(0, end + 2)).containing(end);
  return character?.index || end;
}

/** An id and a name, as Odoo sends what it refers to. */
function isPair(value: unknown): value is [number, string] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'number' && typeof value[1] === 'string';
}

function toText(value: unknown, pointer: string, warnings: WarningList): string {
  if (isPair(value)) {
    warnings.add(pointer, 'pair_as_text');
    return value[1];
  }
  if (typeof value !== 'number') {
    warnings.add(pointer, value === false ? 'means_nothing' : 'not_text');
    return '';
  }
  const text = toDecimalText(value);
  if (text === undefined) {
    warnings.add(pointer, 'out_of_range');
    return '';
  }
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value);
  warnings.add(pointer, isExact ? 'number_as_text' : 'inexact_number');
  return text;
}
