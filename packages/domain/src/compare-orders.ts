import Big from 'big.js';
import type { Item, Order } from './order.ts';

type Value = string | number | null | Item[];

/** A field in which two orders differ, by its pointer (RFC 6901), with the value that each has. */
export type Difference = { pointer: string; from: Value; to: Value };

/**
 * The fields, apart from `source_order_id`, in which two normalized orders differ, in the order of their fields. Items are compared member
 * by member where there are as many; else they are one field, `/items`.
 */
export function compareOrders(one: Order, other: Order): Difference[] {
  const [from, to] = [fieldsOf(one), fieldsOf(other)];
  if (one.items.length === other.items.length) {
    spreadItems(from, one.items);
    spreadItems(to, other.items);
  }
  return [...to].flatMap(([pointer, value]) => {
    const was = from.get(pointer) ?? null;
    return isSame(was, value) ? [] : [{ pointer, from: was, to: value }];
  });
}

/** The same for an order that was sent again: 149.5 and 149.50 are one total. */
export function compareResent(first: Order, again: Order): Difference[] {
  return compareOrders(first, again).filter(({ pointer, from, to }) => pointer !== '/total' || !isSameAmount(from, to));
}

function fieldsOf({ customer, source_order_id: _, ...order }: Order): Map<string, Value> {
  const fields = new Map<string, Value>();
  for (const [name, value] of Object.entries(customer)) fields.set(`/customer/${name}`, value);
  for (const [name, value] of Object.entries(order)) fields.set(`/${name}`, value);
  return fields;
}

function spreadItems(fields: Map<string, Value>, items: readonly Item[]): void {
  fields.delete('/items');
  items.forEach((item, index) => {
    for (const member of ['name', 'quantity', 'sku'] as const) fields.set(`/items/${index}/${member}`, item[member]);
  });
}

function isSame(one: Value, other: Value): boolean {
  return typeof one === 'object' ? JSON.stringify(one) === JSON.stringify(other) : one === other;
}

function isSameAmount(one: Value, other: Value): boolean {
  return typeof one === 'string' && typeof other === 'string' && new Big(one).eq(other);
}
