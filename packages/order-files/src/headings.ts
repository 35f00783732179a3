import { suggestField } from '@orders/domain/sources/suggest-field.ts';
import { OptionsError } from './errors.ts';

/** Which columns of a table may be left out. */
export interface IgnoredColumns {
  /** Headings of columns that are left out. */
  ignored: readonly string[];
  /** Whether all other columns that are not used are left out, too. */
  ignoreUnmapped: boolean;
}

/** What to do with columns that are not used. */
export const LEAVE_OUT = 'or leave out one with --ignore-column, or all with --ignore-unmapped';

/** @throws {OptionsError} if a heading of `--ignore-column` is not there. */
export function requireHeadings(headings: readonly string[], ignored: readonly string[]): void {
  const missing = ignored.filter((heading) => !headings.includes(heading));
  if (missing.length > 0)
    throw new OptionsError('options', `--ignore-column names headings that are not there: ${quoted(missing)}.`);
}

/** A heading for a message, with the field that it probably means. */
export function withSuggestion(heading: string): string {
  const field = suggestField(heading)?.slice(1).replaceAll('/', '.');
  return field === undefined ? quoted([heading]) : `${quoted([heading])} (did you mean ${field}?)`;
}

/** Headings or pointers for a message. */
export function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(', ');
}
