import { MAX_ITEMS } from './interface-limits.ts';
import { isJsonObject } from './normalize/json-object.ts';
import type { Order } from './order.ts';
import { type FieldError, Problem } from './problems.ts';
import { TEXT_FIELD_NAMES } from './text-fields.ts';

/** New values, of any JSON type, by the pointer (RFC 6901) of the order's field. */
export type OrderEdits = Record<string, unknown>;

const FIELD = new RegExp(
  `^/(?:order_number|customer/(?:name|phone|email|id)|address|emirate|area|items|total|currency|${TEXT_FIELD_NAMES.join('|')})$`,
);
/** Bounds the response: a body of 64 KiB can name ten thousand fields. */
export const MAX_ERRORS = 100;
const ITEM_FIELD = /^\/items\/(0|[1-9]\d{0,5})\/(name|quantity|sku)$/;

/** @returns the origins of the items; null if all items were edited as one field. */
export function applyEdits(
  payload: Record<string, unknown>,
  edits: OrderEdits,
  itemCount: number,
): ItemOrigin[] | null {
  const errors: FieldError[] = [];
  const ofItems: [string, unknown][] = [];
  // `/items` before its parts.
  for (const pointer of Object.keys(edits).toSorted((a, b) => a.length - b.length)) {
    if (isItemEdit(pointer) && Array.isArray(payload.items) && itemCount <= MAX_ITEMS)
      ofItems.push([pointer, edits[pointer]]);
    else if (!applyEdit(payload, pointer, edits[pointer]))
      errors.push({ pointer, code: 'not_editable', detail: 'Not a field of this order that can be edited.' });
  }
  const edited = Array.isArray(payload.items) ? editItems(payload.items, ofItems) : null;
  if (edited) payload.items = edited.items;
  errors.push(...(edited?.errors ?? []));
  if (errors.length > 0) throw new Problem('invalid_request', { errors: errors.slice(0, MAX_ERRORS) });
  return '/items' in edits ? null : (edited?.origins ?? null);
}

function applyEdit(payload: Record<string, unknown>, pointer: string, value: unknown): boolean {
  const [, index, member] = ITEM_FIELD.exec(pointer) ?? [];
  if (!member && !FIELD.test(pointer)) return false;
  const [, field = '', inner] = pointer.split('/');
  const parent = member ? (payload.items as unknown[] | null)?.[Number(index)] : inner ? payload.customer : payload;
  if (!isJsonObject(parent)) return false;
  parent[member ?? inner ?? field] = value;
  return true;
}

/** The value of a field, or of an item, that can be edited; undefined if there is none at this pointer. */
export function fieldAt(order: Order, pointer: string): unknown {
  const isField = FIELD.test(pointer) || ITEM_FIELD.test(pointer) || (isItemEdit(pointer) && !pointer.endsWith('-'));
  if (!isField) return undefined;
  let value: unknown = order;
  for (const name of pointer.split('/').slice(1)) value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}

/** An item after an edit: a stored one by its index, or one that the edit at this pointer added. */
export type ItemOrigin = { stored: number } | { added: string };

/** The items of a payload with their origins. */
interface EditedItems {
  items: unknown[];
  origins: ItemOrigin[];
}

const ADDED = '/items/-';
const ITEM = /^\/items\/(0|[1-9]\d{0,5})$/;

/** Whether an edit adds or removes an item: `/items/-` appends, an object inserts before the index, `null` removes. */
export function isItemEdit(pointer: string): boolean {
  return pointer === ADDED || ITEM.test(pointer);
}

/**
 * Removes items by their stored indexes, then inserts others, each so that it has its index afterwards, then appends one. Inserting the
 * removed ones and removing the added ones therefore restores the list.
 *
 * @param edits those by `isItemEdit`.
 * @returns errors for edits that are not possible.
 */
function editItems(
  stored: readonly unknown[],
  edits: readonly [string, unknown][],
): EditedItems & { errors: FieldError[] } {
  const errors: FieldError[] = [];
  const entries: { item: unknown; origin: ItemOrigin }[] = stored.map((item, index) => ({
    item,
    origin: { stored: index },
  }));
  const byIndex = edits
    .map(([pointer, item]) => ({
      pointer,
      item,
      index: pointer === ADDED ? Number.POSITIVE_INFINITY : indexIn(pointer),
    }))
    .toSorted((a, b) => a.index - b.index);
  for (const { pointer, item, index } of byIndex.toReversed()) {
    if (item !== null) continue;
    if (index < entries.length) entries.splice(index, 1);
    else errors.push({ pointer, code: 'not_editable', detail: 'There is no such item.' });
  }
  for (const { pointer, item, index } of byIndex) {
    if (item === null) continue;
    if (!isJsonObject(item)) errors.push({ pointer, code: 'not_an_item', detail: 'Not an item object.' });
    else if (entries.length >= MAX_ITEMS)
      errors.push({ pointer, code: 'too_many_items', detail: 'More than 1,000 items.' });
    else if (index > entries.length && pointer !== ADDED)
      errors.push({ pointer, code: 'not_editable', detail: 'There is no item before this one.' });
    else entries.splice(index, 0, { item, origin: { added: pointer } });
  }
  return { items: entries.map(({ item }) => item), origins: entries.map(({ origin }) => origin), errors };
}

function indexIn(pointer: string): number {
  return Number(ITEM.exec(pointer)?.[1]);
}
