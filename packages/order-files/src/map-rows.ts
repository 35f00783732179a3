import { nearestName } from '@orders/domain/nearest-name.ts';
import { type DeliveryKind, kindOf } from '@orders/domain/sources/delivery-kind.ts';
import { pointerSegments, toJsonPointer } from '@orders/domain/sources/json-pointer.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { FieldMapping, JoinedValue, MappedValue, OrderMapping } from '@orders/domain/sources/mapping.ts';
import type { ShopExport } from '@orders/domain/sources/shop-exports.ts';
import { OptionsError } from './errors.ts';
import { type IgnoredColumns, LEAVE_OUT, quoted, requireHeadings, withSuggestion } from './headings.ts';
import { type Cells, type Table, withItems } from './order-rows.ts';

/**
 * Maps the rows of a table. The document of a row is an object with the headings as names and the cells as texts.
 *
 * @throws {OptionsError} if a pointer leads to no column, or a column that is not ignored has no pointer.
 */
export function mapRows(headings: readonly string[], mapping: OrderMapping, options: IgnoredColumns): Table {
  const [fields, itemFields] = [orderFieldsOf(mapping), itemFieldsOf(mapping)];
  requireColumns(headings, [...fields, ...itemFields]);
  const read = new Set([...fields, ...itemFields].flatMap(pointersOf).map(headingOf));
  const { ignored, ignoreUnmapped } = options;
  requireHeadings(headings, ignored);
  const unread = headings.filter((heading) => heading !== '' && !read.has(heading) && !ignored.includes(heading));
  if (unread.length > 0 && !ignoreUnmapped)
    throw new OptionsError(
      'options',
      `No pointer of the mapping reads these columns: ${unread.map(withSuggestion).join(', ')}; add them to the file of --map, ${LEAVE_OUT}.`,
    );
  const repeated = headings.find((heading, at) => read.has(heading) && headings.indexOf(heading) !== at);
  if (repeated !== undefined)
    throw new OptionsError(
      'options',
      `Two columns have the heading ${quoted([repeated])}, which the mapping reads: rename one.`,
    );
  const mayLackHeading = read.has('') || ignored.includes('') || ignoreUnmapped;
  const documentOf = (row: Cells) => Object.fromEntries(headings.map((heading, at) => [heading, row[at]]));
  return {
    headings,
    ...columnsOf(headings, fields, itemFields),
    keyOf: keyReader(mapping.source_order_id, documentOf),
    toOrder: (merged, rows) => withItems(merged, rows, (row) => mapOrder(documentOf(row), mapping)),
    isStray: (at) => at >= headings.length || (headings[at] === '' && !mayLackHeading),
  };
}

/** A column that both an order and its items read is one of the items: it may differ. */
function columnsOf(
  headings: readonly string[],
  fields: readonly FieldMapping[],
  itemFields: readonly FieldMapping[],
): Pick<Table, 'itemColumns' | 'orderColumns'> {
  const columnsIn = (from: readonly FieldMapping[]) => {
    const read = new Set(from.flatMap(pointersOf).map(headingOf));
    return [...headings.keys()].filter((at) => read.has(headings[at] ?? ''));
  };
  const itemColumns = new Set(columnsIn(itemFields));
  return { itemColumns, orderColumns: columnsIn(fields).filter((at) => !itemColumns.has(at)) };
}

/** Reads what the rows of an order have in common, without the spaces that somebody typed around it. */
function keyReader(source_order_id: FieldMapping, documentOf: (row: Cells) => object): Table['keyOf'] {
  const mapping = { source_order_id };
  return (row) => {
    const { source_order_id: id } = mapOrder(documentOf(row), mapping);
    return typeof id === 'string' ? id.trim() : null;
  };
}

/** Where the fields of an order come from, without those of its items. */
function orderFieldsOf({ customer, items, details = [], ...fields }: OrderMapping): FieldMapping[] {
  const inDetails = details.flatMap((detail) => ('each' in detail ? [] : [detail.value]));
  return [...Object.values(fields), ...Object.values(customer ?? {}), ...inDetails];
}

/** @throws {OptionsError} if a cell is to have a list of items. */
function itemFieldsOf({ items = [] }: OrderMapping): FieldMapping[] {
  if ('list' in items)
    throw new OptionsError(
      'options',
      '--map: a cell of a table has no list of items: write "items" as a list with one object for each item of a row.',
    );
  return items.flatMap((item) => Object.values(item));
}

/** @throws {OptionsError} if a field cannot have a value, because a pointer that it needs leads to no column. */
function requireColumns(headings: readonly string[], fields: readonly FieldMapping[]): void {
  const has = (pointer: string) => headings.includes(headingOf(pointer));
  const missing = fields.filter((field) => !isSatisfied(field, has)).flatMap(pointersOf);
  const names = [...new Set(missing)]
    .filter((pointer) => !has(pointer))
    .map((pointer) => suggestion(pointer, headings));
  if (names.length > 0)
    throw new OptionsError('options', `--map has pointers that lead to no column: ${names.join(', ')}.`);
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

type Part = FieldMapping | JoinedValue['join'][number];

function isSatisfied(from: Part, has: (pointer: string) => boolean): boolean {
  if (typeof from === 'string') return has(from);
  if (isList(from)) return from.some((one) => isSatisfied(one, has));
  if ('find' in from || 'each' in from) return false;
  if ('divide' in from) return has(from.divide);
  return 'constant' in from || from.join.every((part) => isSatisfied(part, has));
}

function pointersOf(from: Part): string[] {
  if (typeof from === 'string') return [from];
  if (isList(from)) return from.flatMap(pointersOf);
  const conditions = 'constant' in from || 'join' in from ? Object.keys({ ...from.if, ...from.except }) : [];
  return 'join' in from ? [...conditions, ...from.join.flatMap(pointersOf)] : conditions;
}

function isList(from: Part): from is readonly FieldMapping[] & readonly MappedValue[] {
  return Array.isArray(from);
}

/** An export says of each order whether there is something to deliver. */
export interface ExportTable extends Table {
  kindOf(merged: Cells): DeliveryKind;
}

/**
 * Reads the rows of a shop's own export. Columns that its mapping does not read are left out, and those that it reads may be absent.
 *
 * @throws {OptionsError} if a column to ignore is not there.
 */
export function mapExport(headings: readonly string[], shop: ShopExport, { ignored }: IgnoredColumns): ExportTable {
  requireHeadings(headings, ignored);
  const { key, mapping, settings, attributes = [] } = shop;
  const { name, quantity, sku } = mapping.items;
  const kept = [...headings.entries()].filter(([, heading]) => !ignored.includes(heading));
  const documentOf = (row: Cells) => Object.fromEntries(kept.map(([at, heading]) => [heading, row[at]]));
  const orderOf = (merged: Cells) => {
    const columns = documentOf(merged);
    const note_attributes = [attributes].flat().flatMap((pointer) => attributesIn(columns[pointer.slice(1)]));
    return { ...columns, note_attributes };
  };
  return {
    headings,
    ...columnsOf(headings, [key, attributes, ...orderFieldsOf(mapping)], [name ?? [], quantity ?? [], sku ?? []]),
    keyOf: keyReader(key, documentOf),
    toOrder: (merged, rows) => mapOrder({ ...orderOf(merged), rows: rows.map(documentOf) }, mapping),
    kindOf: (merged) => kindOf(documentOf(merged), {}, settings),
    isStray: (at) => at >= headings.length,
  };
}

/** The lines `name: value` of a cell. */
function attributesIn(cell: string | undefined): { name: string; value: string }[] {
  return (cell ?? '').split('\n').flatMap((line) => {
    const [name = '', ...value] = line.split(': ');
    return value.length > 0 ? [{ name: name.trim(), value: value.join(': ') }] : [{ name: 'Note', value: line }];
  });
}
