import { compareOrders, type Difference } from './compare-orders.ts';
import { isJsonObject } from './normalize/json-object.ts';
import { MAX_ITEMS } from './normalize/limits.ts';
import type { Warning } from './normalize/warnings.ts';
import { normalizeOrder } from './normalize-order.ts';
import type { NormalizedOrder, Order } from './order.ts';
import { type FieldError, Problem } from './problems.ts';

/** New values, of any JSON type, by the pointer (RFC 6901) of the order's field. */
export type OrderEdits = Record<string, unknown>;

/** A field that an edit changed, with the stored values. */
export type OrderChange = { pointer: string; before: unknown; after: unknown };

/** Changes include side effects: an address can imply the emirate, a total the currency. */
export type EditedOrder = NormalizedOrder & { changes: OrderChange[] };

const FIELD =
  /^\/(?:order_number|customer\/(?:name|phone|email|id)|address|emirate|area|items|total|currency|delivery_instructions)$/;
/** Bounds the response: a body of 64 KiB can name ten thousand fields. */
const MAX_ERRORS = 100;
const ITEM_FIELD = /^\/items\/(0|[1-9]\d{0,5})\/(name|quantity|sku)$/;

/**
 * Edits a stored order. New values are normalized like a payload and leave warnings; old warnings about edited fields are removed, others
 * stay. Items after the 1,000th, from before items were limited, are kept unless `/items` as a whole is edited; they cannot be edited
 * individually.
 *
 * @throws {Problem} `invalid_request` with each pointer that is not an editable field of this order.
 */
export function editOrder(stored: NormalizedOrder, edits: OrderEdits): EditedOrder {
  const payload = toPayload(stored.order);
  const previous = new Set(normalizeOrder(payload).warnings.map(toKey));
  applyEdits(payload, edits);
  const edited = normalizeOrder(payload);
  const unreadItems = '/items' in edits ? [] : stored.order.items.slice(MAX_ITEMS);
  const order = { ...edited.order, items: edited.order.items.concat(unreadItems) };

  const isEdited = (pointer: string) =>
    Object.keys(edits).some((edited) => pointer === edited || pointer.startsWith(`${edited}/`));
  const kept = stored.warnings.filter((warning) => !subjectsOf(warning, stored.warnings).some(isEdited));
  const keptKeys = new Set(kept.map(toKey));
  // Values that are stored as sent because they are unreadable give the same warnings on each normalization; these are not new.
  const fresh = edited.warnings.filter(
    (warning) => (isEdited(warning.pointer) || !previous.has(toKey(warning))) && !keptKeys.has(toKey(warning)),
  );
  const changes = compareOrders(stored.order, order).map(toChange);
  return { order, warnings: [...kept, ...fresh], changes };
}

function toChange({ pointer, from, to }: Difference): OrderChange {
  return { pointer, before: from, after: to };
}

function toKey({ pointer, code }: Warning): string {
  return `${code} ${pointer}`;
}

function toPayload(order: Order): Record<string, unknown> & { items: unknown } {
  const { emirate_code: _, ...payload } = order;
  return structuredClone({ ...payload, items: payload.items.slice(0, MAX_ITEMS) });
}

function applyEdits(payload: Record<string, unknown>, edits: OrderEdits): void {
  const errors: FieldError[] = [];
  // `/items` before its parts.
  for (const pointer of Object.keys(edits).toSorted((a, b) => a.length - b.length)) {
    if (!applyEdit(payload, pointer, edits[pointer])) {
      errors.push({ pointer, code: 'not_editable', detail: 'Not a field of this order that can be edited.' });
    }
  }
  if (errors.length > 0) throw new Problem('invalid_request', { errors: errors.slice(0, MAX_ERRORS) });
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

/**
 * Pointers of the stored fields that a warning is about. Warnings point into the payload as sent, where the customer may be a list or a
 * string, items may be a single item, and the list may contain entries that are not items.
 */
function subjectsOf({ pointer, code }: Warning, all: readonly Warning[]): string[] {
  switch (code) {
    case 'inferred':
      return ['/emirate'];
    case 'currency_conflict':
      return ['/currency', '/total'];
    case 'customer_as_text':
      return ['/customer/name'];
    case 'item_as_text':
      return [`${toStoredItem(pointer, all)}/name`];
    default:
      return [toStoredItem(pointer.replace(/^\/customer\/0(?=\/)/, '/customer'), all)];
  }
}

function toStoredItem(pointer: string, all: readonly Warning[]): string {
  const [, single] = /^\/items(?:\/(name|quantity|sku))?$/.exec(pointer) ?? [];
  if (single) return `/items/0/${single}`;
  const [, index, rest = ''] = /^\/items\/(\d+)(\/.*)?$/.exec(pointer) ?? [];
  if (index === undefined) return pointer;
  const isBefore = (other: Warning) => other.code === 'not_an_item' && Number(other.pointer.slice(7)) < Number(index);
  return `/items/${Number(index) - all.filter(isBefore).length}${rest}`;
}
