import { decodeHTMLStrict } from 'entities';
import { MAX_ITEMS } from '../interface-limits.ts';
import { isJsonObject, listIn } from '../normalize/json-object.ts';
import { readEmirate } from '../normalize/place/read-emirate.ts';
import { MAX_DETAILS } from '../normalize/text-field.ts';
import { WarningList } from '../normalize/warnings.ts';
import { pointerSegments, valueAtSegments } from './json-pointer.ts';
import type { DetailMapping, FieldMapping, ItemMapping, ItemsMapping, OrderMapping } from './mapping.ts';
import { idReader } from './read-id.ts';
import {
  conditionsReader,
  type Entry,
  entriesReader,
  exceptionReader,
  fieldReader,
  isConstant,
  isList,
  type Reader,
  toText,
} from './read-values.ts';

/** UTF-16 units. Over twice the code points that a field may have, so that normalization still warns of a text that it cuts. */
const [MAX_TEXT, MAX_ITEM_TEXT] = [4_100, 1_100];
/** One more than an order may have, so that normalization still warns. */
const MAX_MAPPED_ITEMS = MAX_ITEMS + 1;

/** The payload of an order, in this service's format. Absent fields are left out. */
export type MappedPayload = Record<string, unknown>;

/**
 * Maps a document to the payload of an order. Pure; never throws for any JSON value and valid mapping; takes linear time. The payload may
 * have no `source_order_id`.
 *
 * @param document parsed by `parseDelivery`, so that long numbers are exact.
 */
export function mapOrder(document: unknown, mapping: OrderMapping): MappedPayload {
  return withoutEmpty(mapWithEmpty(document, mapping));
}

/** The same, with `null` for a field of the order that is empty in the document: a platform sends it so when its value was removed. */
export function mapWithEmpty(document: unknown, mapping: OrderMapping): MappedPayload {
  let read = readers.get(mapping);
  if (!read) {
    read = orderReader(mapping);
    readers.set(mapping, read);
  }
  return read(document);
}

function withoutEmpty({ customer, ...payload }: MappedPayload): MappedPayload {
  const present = (fields: object) => Object.entries(fields).filter(([, value]) => value !== null);
  const ofCustomer = present(customer ?? {});
  return {
    ...Object.fromEntries(present(payload)),
    ...(ofCustomer.length > 0 && { customer: Object.fromEntries(ofCustomer) }),
  };
}

/** Pointers are split once for each mapping, not for each delivery. */
const readers = new WeakMap<OrderMapping, Reader<MappedPayload>>();

function orderReader({ source_order_id, customer, items, details, ...fields }: OrderMapping): Reader<MappedPayload> {
  const readId = idReader(source_order_id, MAX_TEXT);
  const readFields = fieldsReader(fields, MAX_TEXT);
  const readCustomer = fieldsReader({ ...customer }, MAX_TEXT);
  const readItems = items && (isList(items) ? eachItemReader(items) : itemsReader(items));
  const readDetails = details && detailsReader(details);
  return (document) => {
    const id = readId(document);
    const mappedCustomer = readCustomer(document);
    const mappedItems = readItems?.(document);
    return tidyPayload({
      ...(id !== undefined && { source_order_id: id }),
      ...readFields(document),
      ...(Object.keys(mappedCustomer).length > 0 && { customer: mappedCustomer }),
      ...(mappedItems && { items: mappedItems }),
      ...(readDetails && { details: readDetails(document) }),
    });
  };
}

function itemsReader({
  list,
  omit_if_zero,
  only,
  except,
  ...fields
}: ItemsMapping): Reader<MappedPayload[] | undefined> {
  const pointers = [...new Set([list].flat())].map((pointer) => pointerSegments(pointer as string));
  const read = itemReader(fields);
  const omitted = omit_if_zero === undefined ? null : pointerSegments(omit_if_zero);
  const meets = only && conditionsReader(only);
  const isException = exceptionReader(except);
  const isWanted = (item: unknown) =>
    !(omitted && isZero(valueAtSegments(item, omitted))) && (meets?.(item) ?? true) && !isException(item);
  return (document) => {
    const values = pointers.map((segments) => valueAtSegments(document, segments));
    const found = values.find(Array.isArray) ?? firstList(values, read);
    if (!found) return undefined;
    const items: MappedPayload[] = [];
    for (const item of found.slice(0, MAX_LISTED)) {
      if (items.length === MAX_MAPPED_ITEMS) break;
      if (isWanted(item)) items.push(read(item));
    }
    return items;
  };
}

/** A list in another shape, or the only item, which programs that read XML do not put into a list. */
function firstList(values: readonly unknown[], read: Reader<MappedPayload>): readonly unknown[] | undefined {
  for (const value of values) {
    const list = listIn(value);
    if (list) return list;
    if (isJsonObject(value) && Object.keys(read(value)).length > 0) return [value];
  }
  return undefined;
}

/** One more than an order may have, so that normalization still warns. */
const MAX_MAPPED_DETAILS = MAX_DETAILS + 1;

/** `null` without any, as the document has none, or no longer. */
function detailsReader(details: readonly DetailMapping[]): Reader<Entry[] | null> {
  const readers = details.map((detail): Reader<Entry[]> => {
    if ('each' in detail) {
      const readEntries = entriesReader(detail, MAX_ITEM_TEXT);
      return (document) => {
        const found: Entry[] = [];
        for (const entry of readEntries(document)) {
          if (found.push(decoded(entry)) === MAX_MAPPED_DETAILS) break;
        }
        return found;
      };
    }
    const { label, value } = detail;
    const read = fieldReader(value, MAX_ITEM_TEXT);
    return (document) => toDetail(label, read(document));
  });
  return (document) => {
    const found = readers.flatMap((read) => read(document)).slice(0, MAX_MAPPED_DETAILS);
    return found.length > 0 ? found : null;
  };
}

function toDetail(label: string, value: string | number | null | undefined): Entry[] {
  return value === null || value === undefined ? [] : [decoded({ label, value: toText(value) })];
}

const decoded = ({ label, value }: Entry): Entry => ({
  label: fieldText(label),
  value: fieldText(value),
});

/** Items whose pointers lead to nothing are left out, also if they have constants. */
function eachItemReader(items: readonly ItemMapping[]): Reader<MappedPayload[] | undefined> {
  const itemReaders = items.map((item) => {
    const pointers = Object.entries(item).map(([name, from]) => [name, withoutConstants(from)] as const);
    return {
      read: itemReader(item),
      readPointers: itemReader(Object.fromEntries(pointers)),
    };
  });
  return (document) => {
    const mapped = itemReaders.flatMap(({ read, readPointers }) =>
      Object.keys(readPointers(document)).length > 0 ? [read(document)] : [],
    );
    return mapped.length > 0 ? mapped : undefined;
  };
}

/** A list of items replaces the items, so their empty fields need no mention. */
function itemReader(item: ItemMapping): Reader<MappedPayload> {
  const read = fieldsReader({ ...item }, MAX_ITEM_TEXT);
  return (document) => withoutEmpty(read(document));
}

function withoutConstants(from: FieldMapping): FieldMapping {
  return (isList(from) ? from : [from]).filter((value) => !isConstant(value));
}

/** Max entries of a list of items that are read, with those that conditions leave out. */
const MAX_LISTED = 10_000;
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
      if (value !== undefined)
        payload[name] = value === null ? null : name === 'quantity' ? toQuantity(value) : fieldText(value);
    }
    return payload;
  };
}

/** Shops built on PHP send texts as they are in HTML. */
function fieldText(value: string | number): string {
  const text = toText(value);
  return text.includes('&') ? decodeHTMLStrict(text) : text;
}

/** The type of a number is the platform's choice, so normalization need not warn of a text. What is not whole is an amount, such as 0.65 kg. */
function toQuantity(value: string | number): string | number {
  if (typeof value === 'number') return Number.isInteger(value) ? value : toText(value);
  return /^\d{1,9}(?:\.0{1,6})?$/.test(value.trim()) ? Number(value) : value;
}

type Payload = Record<string, unknown>;

/** Makes `null` of what platforms send in place of nothing: the emirate again as the area, and the number 0 as the id of a guest. */
function tidyPayload({ area, customer, ...payload }: Payload): Payload {
  return {
    ...payload,
    ...(area !== undefined && { area: repeatsEmirate(area, payload.emirate) ? null : area }),
    ...(customer !== undefined && { customer: withoutZeroId(customer) }),
  };
}

/** Whether the area is only another spelling of the emirate, as a city often is. */
function repeatsEmirate(area: unknown, emirate: unknown): boolean {
  const { emirate_code, rest } = readEmirate(area, new WarningList());
  if (emirate_code === null || rest !== null) return false;
  return readEmirate(emirate, new WarningList()).emirate_code === emirate_code;
}

function withoutZeroId(customer: unknown): unknown {
  const { id, ...others } = { ...(customer as Payload) };
  return id === '0' ? { ...others, id: null } : customer;
}
