import { pointerSegments, toJsonPointer } from '@orders/domain/sources/json-pointer.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { FieldMapping, JoinedPart, MappedValue, OrderMapping } from '@orders/domain/sources/mapping.ts';
import { nearestName } from '@orders/domain/sources/nearest-name.ts';
import { suggestField } from '@orders/domain/sources/suggest-field.ts';
import { UsageError } from '../errors.ts';
import { escapeControls } from '../sanitize.ts';

/**
 * The field of a column as path segments; null if the column is ignored, undefined if it has no heading and must be empty.
 */
type Column = readonly string[] | null | undefined;

/** The fields of an order. An address may have parts of any name; customer and items may be plain strings. */
const FIELD =
  /^\/(source_order_id|order_number|customer(\/(name|phone|email|id))?|address(\/.+)?|emirate|area|items(\/\d{1,3}\/(name|quantity|sku))?|total|currency|payment_state|delivery_time|delivery_instructions)$/;

/** Which columns of a table may be left out. */
export interface IgnoredColumns {
  /** Headings of columns that are left out. */
  ignored: readonly string[];
  /** Whether all other columns that are not used are left out, too. */
  ignoreUnmapped: boolean;
}

/**
 * Reads the rows of a table by its headings, each a field (`total`) or a path to one (`customer.phone`, `items.0.name`).
 *
 * @returns `isStray`: whether a column has no heading, so that its cells must be empty.
 * @throws {UsageError} with the headings that match no field (unless ignored) or the same field.
 */
export function mapColumns(headings: readonly string[], { ignored, ignoreUnmapped }: IgnoredColumns) {
  const unmapped: string[] = [];
  const columns = headings.map((heading): Column => {
    const pointer = ignored.includes(heading) ? null : pointerOf(heading);
    if (pointer === undefined && heading === '' && !ignoreUnmapped) return undefined;
    if (pointer === undefined && heading !== '') unmapped.push(heading);
    return pointer ? pointerSegments(pointer) : null;
  });
  if (unmapped.length > 0 && !ignoreUnmapped)
    throw new UsageError(
      `These headings lead to no field of an order: ${unmapped.map(withSuggestion).join(', ')}; map them with --map, ${LEAVE_OUT}.`,
    );
  requireHeadings(headings, ignored);
  rejectConflicts(headings, columns);
  if (!columns.some((column) => column?.[0] === 'source_order_id'))
    throw new UsageError('No column leads to source_order_id, which each order needs; name it with --map.');
  return {
    toOrder: (record: readonly string[]) => orderOfColumns(record, columns),
    isStray: (at: number) => columns[at] === undefined,
  };
}

type Parts = { [step: string]: string | number | Parts | unknown[] };

/** An empty cell is absent. All values are strings, so that no id loses digits, except quantities. */
function orderOfColumns(record: readonly string[], columns: readonly Column[]): Parts {
  const order: Parts = Object.create(null);
  for (const [at, column] of columns.entries()) {
    const cell = record[at] ?? '';
    if (column && cell.trim() !== '') put(order, column, cell);
  }
  if (typeof order.items === 'object') order.items = Object.values(order.items);
  return order;
}

function put(order: Parts, path: readonly string[], cell: string): void {
  let parts = order;
  for (const step of path.slice(0, -1)) {
    parts[step] ??= Object.create(null);
    parts = parts[step] as Parts;
  }
  const last = path.at(-1) as string;
  parts[last] = path[0] === 'items' && last === 'quantity' && /^\d{1,9}$/.test(cell) ? Number(cell) : cell;
}

/** What to do with columns that are not used. */
const LEAVE_OUT = 'or leave out one with --ignore-column, or all with --ignore-unmapped';

/** @throws {UsageError} if a heading of `--ignore-column` is not there. */
function requireHeadings(headings: readonly string[], ignored: readonly string[]): void {
  const missing = ignored.filter((heading) => !headings.includes(heading));
  if (missing.length > 0)
    throw new UsageError(`--ignore-column names headings that are not there: ${quoted(missing)}.`);
}

function pointerOf(heading: string): string | undefined {
  const pointer = toJsonPointer(heading.split('.'));
  return FIELD.test(pointer) ? pointer : undefined;
}

/** Two columns must not have the same field, nor one a part of the other's. */
function rejectConflicts(headings: readonly string[], columns: readonly Column[]): void {
  const paths = columns.map((column) => (column ? `/${column.join('/')}/` : null));
  for (const [first, path] of paths.entries()) {
    const second = paths.findIndex((other, at) => at !== first && path !== null && other?.startsWith(path));
    if (second >= 0)
      throw new UsageError(
        `The columns ${quoted([headings[first] ?? '', headings[second] ?? ''])} lead to the same field.`,
      );
  }
}

/** A heading for a message, with the field that it probably means. */
function withSuggestion(heading: string): string {
  const field = suggestField(heading)?.slice(1).replaceAll('/', '.');
  return field === undefined ? quoted([heading]) : `${quoted([heading])} (did you mean ${field}?)`;
}

/** Headings or pointers for a message. */
function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${escapeControls(text)}"`).join(', ');
}

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
  const shown = quoted([pointer]);
  return nearest ? `${shown} (did you mean ${quoted([toJsonPointer([nearest])])}?)` : shown;
}

/** The heading that a pointer leads to. One with several steps leads to none: its slash must be written ~1. */
function headingOf(pointer: string): string {
  const [heading = '', ...more] = pointerSegments(pointer);
  return more.length === 0 ? heading : pointer;
}

type Part = FieldMapping | JoinedPart | readonly JoinedPart[];

function isSatisfied(from: Part, has: (pointer: string) => boolean): boolean {
  if (typeof from === 'string') return has(from);
  if (isList(from)) return from.some((one) => isSatisfied(one, has));
  if ('find' in from) return false;
  if ('divide' in from) return has(from.divide);
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
