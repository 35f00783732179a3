import { toDecimalText } from './decimal-text.ts';
import type { WarningList } from './warnings.ts';

/**
 * Characters that mislead readers or that Postgres or printers reject: control characters (including U+0000), bidirectional controls, lone
 * surrogates (`Cs`) and noncharacters.
 */
const FORBIDDEN = /[[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}]--[\n\t]]/v;
const EVERY_FORBIDDEN = new RegExp(FORBIDDEN, 'gv');

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
  const text = typeof value === 'string' ? value : toText(value, pointer, warnings);
  return cleanText(text, pointer, warnings) || null;
}

/**
 * Removes forbidden characters, with a warning, and trims. Carriage returns become newlines. Text without visible characters, for example
 * a zero-width space, becomes empty.
 */
export function cleanText(text: string, pointer: string, warnings: WarningList): string {
  const trimmed = text.trim();
  if (!FORBIDDEN.test(trimmed) && (VISIBLE.test(trimmed) || trimmed === '')) return trimmed;
  warnings.add(pointer, 'characters_removed');
  return removeForbidden(trimmed);
}

/** Removes forbidden characters and trims; empty if nothing visible is left. */
export function removeForbidden(text: string): string {
  const cleaned = text.replace(/\r\n?/g, '\n').replace(EVERY_FORBIDDEN, '');
  return VISIBLE.test(cleaned) ? cleaned.trim() : '';
}

/** Removes joiners, zero-width spaces and soft hyphens, which numbers copied from web pages contain. */
export function removeInvisible(text: string): string {
  return text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
}

/** Cuts cleaned text to `limit` code points, with a warning, and trims its end; null if nothing visible is left. */
export function cutText(text: string, pointer: string, limit: number, warnings: WarningList): string | null {
  if (text.length <= limit) return text;
  let end = 0;
  for (let count = 0; count < limit && end < text.length; count++) end += isPair(text, end) ? 2 : 1;
  if (end === text.length) return text;
  warnings.add(pointer, 'too_long', `Longer than ${limit} characters`);
  const kept = text.slice(0, wholeCharactersUpTo(end, text)).trimEnd();
  return VISIBLE.test(kept) ? kept : null;
}

function isPair(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}

/**
 * The last boundary of a grapheme cluster (UAX #29) at or before `end`; `end` itself if the first cluster is longer.
 */
function wholeCharactersUpTo(end: number, text: string): number {
  const character = GRAPHEMES.segment(text.slice(0, end + 2)).containing(end);
  return character?.index || end;
}

function toText(value: unknown, pointer: string, warnings: WarningList): string {
  if (typeof value !== 'number') {
    warnings.add(pointer, 'not_text');
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
