import { toJsonPointer } from '@orders/domain/sources/json-pointer.ts';
import { suggestField } from '@orders/domain/sources/suggest-field.ts';
import { TEXT_FIELD_NAMES } from '@orders/domain/text-fields.ts';
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

/** The fields of an order. An address may have parts of any name; customer and items may be plain strings. */
const FIELD = new RegExp(
  `^/(source_order_id|order_number|customer(/(name|phone|email|id))?|address(/.+)?|emirate|area|items(/\\d{1,3}/(name|quantity|sku))?|total|currency|${TEXT_FIELD_NAMES.join('|')})$`,
);

/** The pointer of the field that a heading names (`total`) or is the path to (`customer.phone`, `items.0.name`); undefined if it is none. */
export function fieldOfHeading(heading: string): string | undefined {
  const pointer = toJsonPointer(heading.split('.'));
  return FIELD.test(pointer) ? pointer : undefined;
}
