import { toDecimalText } from './decimal-text.ts';
import type { WarningList } from './warnings.ts';

/**
 * What confuses a reader or is refused by Postgres or a printer: control characters (U+0000 among them), bidirectional
 * controls, lone surrogates (the only `Cs` left) and code points that are no characters.
 */
const FORBIDDEN = /[[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}]--[\n\t]]/v;
const EVERY_FORBIDDEN = new RegExp(FORBIDDEN, 'gv');

const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}]/u;

const GRAPHEMES = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * Reads one text field: trimmed, cleaned, at most `limit` code points, or null when absent, blank or no text at all.
 * A number becomes its decimal text. Everything but trimming leaves a warning at `pointer`.
 */
export function readText(value: unknown, pointer: string, limit: number, warnings: WarningList): string | null {
  const text = readUncut(value, pointer, warnings);
  return text && (cutText(text, pointer, limit, warnings) || null);
}

/** The same without a limit. */
export function readUncut(value: unknown, pointer: string, warnings: WarningList): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value : writeOut(value, pointer, warnings);
  return cleanText(text, pointer, warnings) || null;
}

/**
 * Removes forbidden characters, with a warning, then the blanks around the text. A carriage return becomes a newline.
 * What shows nothing then, a zero-width space for instance, is nothing.
 */
export function cleanText(text: string, pointer: string, warnings: WarningList): string {
  const trimmed = text.trim();
  if (!FORBIDDEN.test(trimmed) && (VISIBLE.test(trimmed) || trimmed === '')) return trimmed;
  warnings.add(pointer, 'characters_removed');
  return removeForbidden(trimmed);
}

/** The text without forbidden characters and the blanks around it; empty when nothing of it can be seen. */
export function removeForbidden(text: string): string {
  const cleaned = text.replace(/\r\n?/g, '\n').replace(EVERY_FORBIDDEN, '');
  return VISIBLE.test(cleaned) ? cleaned.trim() : '';
}

/** Without joiners, zero-width spaces and soft hyphens, which come along when a number is copied from a page. */
export function removeInvisible(text: string): string {
  return text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
}

/** Cuts a clean text to at most `limit` code points, with a warning; no blanks are left at the end, and nothing that cannot be seen. */
export function cutText(text: string, pointer: string, limit: number, warnings: WarningList): string {
  if (text.length <= limit) return text;
  let end = 0;
  for (let count = 0; count < limit && end < text.length; count++) end += isPair(text, end) ? 2 : 1;
  if (end === text.length) return text;
  warnings.add(pointer, 'too_long', `Longer than ${limit} characters`);
  const kept = text.slice(0, wholeCharactersUpTo(end, text)).trimEnd();
  return VISIBLE.test(kept) ? kept : '';
}

function isPair(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}

/**
 * The last boundary between characters as people see them (grapheme clusters, UAX #29) that is not behind `end`; `end`
 * itself if the text begins with a "character" longer than that.
 */
function wholeCharactersUpTo(end: number, text: string): number {
  const character = GRAPHEMES.segment(text.slice(0, end + 2)).containing(end);
  return character?.index || end;
}

function writeOut(value: unknown, pointer: string, warnings: WarningList): string {
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
