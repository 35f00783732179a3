import Big from 'big.js';
import { MAX_ITEMS } from './normalize/limits.ts';
import type { Item, Order } from './order.ts';

type Value = string | number | null | Item[];

/** A field in which two orders differ, by its pointer (RFC 6901), with the value that each has. */
export type Difference = {
  pointer: string;
  from: Value;
  to: Value;
  /** The values were too long to keep, and are left out: both are null. */
  cut?: true;
};

/** How long the differences of one order that was sent again may be, as JSON in characters. */
const MAX_LENGTH = 16_384;
/** Those of items, which come last, are then too long whatever they are: each takes more than 40 characters. */
const ENOUGH = 500;

/**
 * The fields, apart from `source_order_id`, in which two normalized orders differ, in the order of their fields. Items are compared member
 * by member where there are as many; else they are one field, `/items`.
 */
export function compareOrders(one: Order, other: Order): Difference[] {
  return [...findDifferences(one, other)];
}

/**
 * The same for an order that was sent again: 149.5 and 149.50 are one total. Where all of it is longer than 16 KiB as JSON, the longest
 * values are left out, all items counting as one: what is kept of a short order must not be as long as the one that it repeats.
 * Items behind the 1,000th are not compared.
 */
export function compareResent(first: Order, again: Order): Difference[] {
  const differences: Difference[] = [];
  for (const difference of findResent(first, again)) {
    if (differences.push(difference) === ENOUGH) break;
  }
  return cutLongest(differences);
}

/** Whether `compareResent` finds anything; it looks no further than that. */
export function isResentOtherwise(first: Order, again: Order): boolean {
  return !findResent(first, again).next().done;
}

function* findResent(first: Order, again: Order): Generator<Difference> {
  for (const difference of findDifferences(upToLimit(first), upToLimit(again))) {
    if (difference.pointer !== '/total' || !isSameAmount(difference.from, difference.to)) yield difference;
  }
}

/** An order written before items were limited has more than the same order read today. */
function upToLimit(order: Order): Order {
  return order.items.length > MAX_ITEMS ? { ...order, items: order.items.slice(0, MAX_ITEMS) } : order;
}

function* findDifferences(one: Order, other: Order): Generator<Difference> {
  const was = fieldsOf(one);
  const arePaired = one.items.length === other.items.length;
  for (const [pointer, to] of fieldsOf(other)) {
    const from = was.get(pointer) ?? null;
    if (from !== to && !(pointer === '/items' && arePaired)) yield { pointer, from, to };
  }
  if (arePaired) yield* findInItems(one.items, other.items);
}

/** A pointer is made only where they differ. */
function* findInItems(ones: readonly Item[], others: readonly Item[]): Generator<Difference> {
  for (const [index, one] of ones.entries()) {
    const other = others[index] as Item;
    for (const member of ['name', 'quantity', 'sku'] as const) {
      const [from, to] = [one[member], other[member]];
      if (from !== to) yield { pointer: `/items/${index}/${member}`, from, to };
    }
  }
}

function cutLongest(differences: readonly Difference[]): Difference[] {
  const fields = Map.groupBy(differences, ({ pointer }) => (pointer.startsWith('/items/') ? '/items' : pointer));
  const lengths = [...fields].map(([field, inIt]) => ({ field, length: JSON.stringify(inIt).length }));
  let length = lengths.reduce((sum, one) => sum + one.length, 0);
  for (const one of lengths.toSorted((a, b) => b.length - a.length)) {
    if (length <= MAX_LENGTH) break;
    const cut = { pointer: one.field, from: null, to: null, cut: true } as const;
    length += JSON.stringify([cut]).length - one.length;
    fields.set(one.field, [cut]);
  }
  return [...fields.values()].flat();
}

function fieldsOf({ customer, source_order_id: _, ...order }: Order): Map<string, Value> {
  const fields = new Map<string, Value>();
  for (const [name, value] of Object.entries(customer)) fields.set(`/customer/${name}`, value);
  for (const [name, value] of Object.entries(order)) fields.set(`/${name}`, value);
  return fields;
}

function isSameAmount(one: Value, other: Value): boolean {
  return typeof one === 'string' && typeof other === 'string' && new Big(one).eq(other);
}
