import Big from 'big.js';
import { mergeSent, type SentOrder } from './absent-fields.ts';
import { MAX_ITEMS } from './interface-limits.ts';
import type { Item, Order } from './order.ts';

type Value = string | number | boolean | null | Item[];

/** A field in which two orders differ, by its pointer (RFC 6901), with both values. */
export type Difference = {
  pointer: string;
  from: Value;
  to: Value;
  /** The values were too long to store; both are null. */
  cut?: true;
};

/** Of a delivery of an order that its platform had cancelled: it is ordered again. No field of the order. */
export const ORDERED_AGAIN: Difference = { pointer: '/cancelled', from: true, to: false };

/** Of a delivery that says that the platform is done with an order that needs review. No field of the order. */
export const FINISHED: Difference = { pointer: '/finished', from: false, to: true };

/** Max length of the differences of a changed delivery, as JSON in characters. */
const MAX_LENGTH = 16_384;
/** This many always exceed `MAX_LENGTH`: beyond the few other fields, each difference of an item takes more than 40 characters. */
const MAX_DIFFERENCES = 500;

/**
 * The fields in which two normalized orders differ, except `source_order_id`, in field order. Items are compared member by member if their
 * number is equal; otherwise they are one field, `/items`.
 */
export function compareOrders(before: Order, after: Order): Difference[] {
  return [...findDifferences(before, after)];
}

/**
 * The same for a changed delivery, in the fields that it mentions, with 149.5 equal to 149.50. If the result exceeds 16 KiB as JSON, the longest
 * values are omitted, all items counting as one value, so that a short changed delivery cannot store a whole long order. Items after the 1,000th are
 * not compared.
 */
export function compareChangedDelivery(first: Order, resent: SentOrder): Difference[] {
  const differences: Difference[] = [];
  for (const difference of differencesOfDelivery(first, resent)) {
    if (differences.push(difference) === MAX_DIFFERENCES) break;
  }
  return cutLongest(differences);
}

/** Whether `compareChangedDelivery` would find a difference; stops at the first. */
export function isDeliveryChanged(first: Order, resent: SentOrder): boolean {
  return !differencesOfDelivery(first, resent).next().done;
}

function* differencesOfDelivery(first: Order, resent: SentOrder): Generator<Difference> {
  const limited = limitItems(first);
  const order = mergeSent(limited, { ...resent, order: limitItems(resent.order) });
  for (const difference of findDifferences(limited, order)) {
    if (difference.pointer !== '/total' || !isSameAmount(difference.from, difference.to)) yield difference;
  }
}

/** Orders written before items were limited can have more than `MAX_ITEMS`. */
function limitItems(order: Order): Order {
  return order.items.length > MAX_ITEMS ? { ...order, items: order.items.slice(0, MAX_ITEMS) } : order;
}

function* findDifferences(before: Order, after: Order): Generator<Difference> {
  const oldFields = fieldsOf(before);
  const isSameLength = before.items.length === after.items.length;
  for (const [pointer, to] of fieldsOf(after)) {
    const from = oldFields.get(pointer) ?? null;
    if (from !== to && !(pointer === '/items' && isSameLength)) yield { pointer, from, to };
  }
  if (isSameLength) yield* compareItems(before.items, after.items);
}

function* compareItems(before: readonly Item[], after: readonly Item[]): Generator<Difference> {
  for (const [index, item] of before.entries()) {
    const other = after[index] as Item;
    for (const member of ['name', 'quantity', 'sku'] as const) {
      const [from, to] = [item[member], other[member]];
      if (from !== to) yield { pointer: `/items/${index}/${member}`, from, to };
    }
  }
}

function cutLongest(differences: readonly Difference[]): Difference[] {
  const fields = Map.groupBy(differences, ({ pointer }) => (pointer.startsWith('/items/') ? '/items' : pointer));
  const lengths = [...fields].map(([field, group]) => ({ field, length: JSON.stringify(group).length }));
  let length = lengths.reduce((sum, field) => sum + field.length, 0);
  for (const { field, length: fieldLength } of lengths.toSorted((a, b) => b.length - a.length)) {
    if (length <= MAX_LENGTH) break;
    const cut = { pointer: field, from: null, to: null, cut: true } as const;
    length += JSON.stringify([cut]).length - fieldLength;
    fields.set(field, [cut]);
  }
  return [...fields.values()].flat();
}

function fieldsOf({ customer, source_order_id: _, ...order }: Order): Map<string, Value> {
  const fields = new Map<string, Value>();
  for (const [name, value] of Object.entries(customer)) fields.set(`/customer/${name}`, value);
  for (const [name, value] of Object.entries(order)) fields.set(`/${name}`, value);
  return fields;
}

function isSameAmount(a: Value, b: Value): boolean {
  return typeof a === 'string' && typeof b === 'string' && new Big(a).eq(b);
}
