import { editItems, type ItemOrigin, isItemEdit } from './edit-items.ts';
import { isJsonObject } from './normalize/json-object.ts';
import { MAX_ITEMS } from './normalize/limits.ts';
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
