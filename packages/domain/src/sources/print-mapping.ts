import type { OrderMapping } from './mapping.ts';

/** In the sequence of `OrderMapping`; Postgres sorts the members of what it stores. */
const SEQUENCE = [
  ...['source_order_id', 'order_number', 'customer', 'address', 'emirate', 'area', 'items', 'total', 'currency'],
  'delivery_instructions',
  ...['list', 'name', 'quantity', 'sku', 'phone', 'email', 'id', 'omit_if_zero', 'join', 'separator', 'constant'],
];

/** The JSON of a mapping, indented, with its members in the sequence of the documents. `readMapping` accepts it. */
export function printMapping(mapping: OrderMapping): string {
  return JSON.stringify(mapping, inSequence, 2);
}

function inSequence(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => SEQUENCE.indexOf(a) - SEQUENCE.indexOf(b)));
}
