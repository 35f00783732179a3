import { toDecimalText } from '../normalize/decimal-text.ts';
import { MAX_ITEMS } from '../normalize/limits.ts';
import { pointerSegments, valueAtSegments } from './json-pointer.ts';
import type { ConstantValue, FieldMapping, ItemMapping, ItemsMapping, MappedValue, OrderMapping } from './mapping.ts';
import { tidyPayload } from './tidy-payload.ts';

/** UTF-16 units. Over twice the code points that a field may have, so that normalization still warns of a text that it cuts. */
const [MAX_TEXT, MAX_ITEM_TEXT] = [4_100, 1_100];
/** One more than an order may have, so that normalization still warns. */
const MAX_MAPPED_ITEMS = MAX_ITEMS + 1;

/** The payload of an order, in this service's format. Absent fields are left out. */
export type MappedPayload = Record<string, unknown>;

type Present = string | number | undefined;
type Reader<Value> = (document: unknown) => Value;

/**
 * Maps a document to the payload of an order. Pure; never throws for any JSON value and valid mapping; takes linear time. The payload may
 * have no `source_order_id`.
 *
 * @param document parsed by `parseDelivery`, so that long numbers are exact.
 */
export function mapOrder(document: unknown, mapping: OrderMapping): MappedPayload {
  let read = readers.get(mapping);
  if (!read) {
    read = orderReader(mapping);
    readers.set(mapping, read);
  }
  return read(document);
}

/** Pointers are split once for each mapping, not for each delivery. */
const readers = new WeakMap<OrderMapping, Reader<MappedPayload>>();

function orderReader({ customer, items, ...fields }: OrderMapping): Reader<MappedPayload> {
  const readFields = fieldsReader(fields, MAX_TEXT);
  const readCustomer = fieldsReader({ ...customer }, MAX_TEXT);
  const readItems = items && (isList(items) ? eachItemReader(items) : itemsReader(items));
  return (document) => {
    const mappedCustomer = readCustomer(document);
    const mappedItems = readItems?.(document);
    return tidyPayload({
      ...readFields(document),
      ...(Object.keys(mappedCustomer).length > 0 && { customer: mappedCustomer }),
      ...(mappedItems && { items: mappedItems }),
    });
  };
}

function itemsReader({ list, omit_if_zero, ...fields }: ItemsMapping): Reader<MappedPayload[] | undefined> {
  const pointers = (typeof list === 'string' ? [list] : list).map(pointerSegments);
  const read = fieldsReader({ ...fields }, MAX_ITEM_TEXT);
  const omitted = omit_if_zero === undefined ? null : pointerSegments(omit_if_zero);
  return (document) => {
    const found = pointers.map((segments) => valueAtSegments(document, segments)).find(Array.isArray);
    if (!found) return undefined;
    const items: MappedPayload[] = [];
    for (const item of found) {
      if (items.length === MAX_MAPPED_ITEMS) break;
      if (!omitted || !isZero(valueAtSegments(item, omitted))) items.push(read(item));
    }
    return items;
  };
}

/** Items whose pointers lead to nothing are left out, also if they have constants. */
function eachItemReader(items: readonly ItemMapping[]): Reader<MappedPayload[] | undefined> {
  const itemReaders = items.map((item) => {
    const pointers = Object.entries(item).map(([name, from]) => [name, withoutConstants(from)] as const);
    return {
      read: fieldsReader({ ...item }, MAX_ITEM_TEXT),
      readPointers: fieldsReader(Object.fromEntries(pointers), MAX_ITEM_TEXT),
    };
  });
  return (document) => {
    const mapped = itemReaders.flatMap(({ read, readPointers }) =>
      Object.keys(readPointers(document)).length > 0 ? [read(document)] : [],
    );
    return mapped.length > 0 ? mapped : undefined;
  };
}

function withoutConstants(from: FieldMapping): FieldMapping {
  return (isList(from) ? from : [from]).filter((value) => !isConstant(value));
}

function isConstant(from: MappedValue): from is ConstantValue {
  return typeof from === 'object' && 'constant' in from;
}

function isZero(value: unknown): boolean {
  return value === 0 || value === '0';
}

function fieldsReader(
  fields: Readonly<Record<string, FieldMapping | undefined>>,
  maxText: number,
): Reader<MappedPayload> {
  const readers = Object.entries(fields).flatMap(([name, from]) =>
    from === undefined ? [] : [[name, fieldReader(from, maxText)] as const],
  );
  return (document) => {
    const payload: MappedPayload = {};
    for (const [name, read] of readers) {
      const value = read(document);
      if (value !== undefined) payload[name] = name === 'quantity' ? toQuantity(value) : toText(value);
    }
    return payload;
  };
}

/** Without an exponent, which platforms do not write. */
function toText(value: string | number): string {
  return typeof value === 'number' ? (toDecimalText(value) ?? String(value)) : value;
}

/** The type of a number is the platform's choice, so normalization need not warn of a text. */
function toQuantity(value: string | number): string | number {
  return typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
}

function fieldReader(from: FieldMapping, maxText: number): Reader<Present> {
  return firstPresent((isList(from) ? from : [from]).map((value) => valueReader(value, maxText)));
}

function isList<Value>(from: Value | readonly Value[]): from is readonly Value[] {
  return Array.isArray(from);
}

function firstPresent(readers: readonly Reader<Present>[]): Reader<Present> {
  return (document) => {
    for (const read of readers) {
      const value = read(document);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

function valueReader(from: MappedValue, maxText: number): Reader<Present> {
  if (typeof from === 'string') {
    const segments = pointerSegments(from);
    return (document) => presentValue(valueAtSegments(document, segments), maxText);
  }
  if (isConstant(from)) return () => presentValue(from.constant, maxText);
  const { join, separator = ' ' } = from;
  const parts = join.map((part) => fieldReader(part, maxText));
  return (document) => {
    const present = parts.map((read) => read(document)).filter((part) => part !== undefined);
    return presentValue(present.map(toText).join(separator), maxText);
  };
}

/** A number, or a string that is not blank; other values are absent. Cut first: of a long string, only the start is searched. */
function presentValue(value: unknown, maxText: number): Present {
  // -0 becomes 0, as in JSON.
  if (typeof value === 'number') return value + 0;
  if (typeof value !== 'string') return undefined;
  const text = value.slice(0, maxText);
  return text.trim() === '' ? undefined : text;
}
