import { pointerSegments, toJsonPointer } from '@orders/domain/sources/json-pointer.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { FieldMapping, MappedValue, OrderMapping } from '@orders/domain/sources/mapping.ts';
import { nearestName } from '@orders/domain/sources/nearest-name.ts';
import { UsageError } from '../errors.ts';
import { escapeControls } from '../sanitize.ts';
import { type IgnoredColumns, LEAVE_OUT, quoted, requireHeadings, withSuggestion } from './map-columns.ts';

/**
 * Maps the rows of a table. The document of a row is an object with the headings as names and the cells as texts.
 *
 * @returns `isStray`: whether a column has neither a heading nor a pointer, so that its cells must be empty.
 * @throws {UsageError} if a pointer leads to no column, or a column that is not ignored has no pointer.
 */
export function mapRows(headings: readonly string[], mapping: OrderMapping, options: IgnoredColumns) {
  const fields = fieldsOf(mapping);
  requireColumns(headings, fields);
  const read = new Set(fields.flatMap(pointersOf).map(headingOf));
  const { ignored, ignoreUnmapped } = options;
  requireHeadings(headings, ignored);
  const unread = headings.filter((heading) => heading !== '' && !read.has(heading) && !ignored.includes(heading));
  if (unread.length > 0 && !ignoreUnmapped)
    throw new UsageError(
      `No pointer of the mapping reads these columns: ${unread.map(withSuggestion).join(', ')}; add them to the file of --map, ${LEAVE_OUT}.`,
    );
  const repeated = headings.find((heading, at) => read.has(heading) && headings.indexOf(heading) !== at);
  if (repeated !== undefined)
    throw new UsageError(`Two columns have the heading ${quoted([repeated])}, which the mapping reads: rename one.`);
  const mayLackHeading = read.has('') || ignored.includes('') || ignoreUnmapped;
  return {
    toOrder: (record: readonly string[]) =>
      mapOrder(Object.fromEntries(headings.map((heading, at) => [heading, record[at]])), mapping),
    isStray: (at: number) => at >= headings.length || (headings[at] === '' && !mayLackHeading),
  };
}

function fieldsOf({ customer, items, ...fields }: OrderMapping): FieldMapping[] {
  if (items && 'list' in items)
    throw new UsageError(
      '--map: a cell of a table has no list of items: write "items" as a list with one object for each item of a row.',
    );
  const objects = [fields, { ...customer }, ...((items ?? []) as readonly object[])];
  return objects.flatMap((object) => Object.values(object));
}

/** @throws {UsageError} if a field cannot have a value, because a pointer that it needs leads to no column. */
function requireColumns(headings: readonly string[], fields: readonly FieldMapping[]): void {
  const has = (pointer: string) => headings.includes(headingOf(pointer));
  const missing = fields.filter((field) => !isSatisfied(field, has)).flatMap(pointersOf);
  const names = [...new Set(missing)]
    .filter((pointer) => !has(pointer))
    .map((pointer) => suggestion(pointer, headings));
  if (names.length > 0) throw new UsageError(`--map has pointers that lead to no column: ${names.join(', ')}.`);
}

/** `"/Mobil" (did you mean "/Mobile"?)`; also for a heading with a slash that is not escaped. */
function suggestion(pointer: string, headings: readonly string[]): string {
  const name = pointer.slice(1);
  const nearest = headings.includes(name) ? name : nearestName(headingOf(pointer), headings);
  const shown = (text: string) => `"${escapeControls(text)}"`;
  return nearest ? `${shown(pointer)} (did you mean ${shown(toJsonPointer([nearest]))}?)` : shown(pointer);
}

/** The heading that a pointer leads to. One with several steps leads to none: its slash must be written ~1. */
function headingOf(pointer: string): string {
  const [heading = '', ...more] = pointerSegments(pointer);
  return more.length === 0 ? heading : pointer;
}

type Part = FieldMapping | readonly string[];

function isSatisfied(from: Part, has: (pointer: string) => boolean): boolean {
  if (typeof from === 'string') return has(from);
  if (isList(from)) return from.some((one) => isSatisfied(one, has));
  return 'constant' in from || from.join.every((part) => isSatisfied(part, has));
}

function pointersOf(from: Part): string[] {
  if (typeof from === 'string') return [from];
  if (isList(from)) return from.flatMap(pointersOf);
  return 'join' in from ? from.join.flatMap(pointersOf) : [];
}

function isList(from: Part): from is readonly FieldMapping[] & readonly MappedValue[] {
  return Array.isArray(from);
}
