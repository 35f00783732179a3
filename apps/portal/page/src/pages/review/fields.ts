import type { ListedOrder, Order, Warning } from '../../api/review.ts';

/** How a field is edited. */
export type FieldKind = 'text' | 'long' | 'code' | 'phone' | 'emirate';

/** A field of an order. */
export interface FieldEntry {
  pointer: string;
  kind: FieldKind;
  valueOf(order: ListedOrder): string | null;
}

/** In the order in which a dispatcher reads; the items follow, then the rest. */
export const FIELDS: FieldEntry[] = [
  { pointer: '/customer/name', kind: 'text', valueOf: ({ customer }) => customer.name },
  { pointer: '/customer/phone', kind: 'phone', valueOf: ({ customer }) => customer.phone },
  { pointer: '/address', kind: 'long', valueOf: ({ address }) => address },
  { pointer: '/emirate', kind: 'emirate', valueOf: ({ emirate }) => emirate },
  { pointer: '/area', kind: 'text', valueOf: ({ area }) => area },
  {
    pointer: '/delivery_instructions',
    kind: 'long',
    valueOf: ({ delivery_instructions }) => delivery_instructions,
  },
];

export const MONEY_FIELDS: FieldEntry[] = [
  { pointer: '/total', kind: 'code', valueOf: ({ total }) => total },
  { pointer: '/currency', kind: 'code', valueOf: ({ currency }) => currency },
];

export const OTHER_FIELDS: FieldEntry[] = [
  { pointer: '/order_number', kind: 'text', valueOf: ({ order_number }) => order_number },
  { pointer: '/customer/email', kind: 'code', valueOf: ({ customer }) => customer.email },
  { pointer: '/customer/id', kind: 'text', valueOf: ({ customer }) => customer.id },
];

const ALL_FIELDS = [...FIELDS, ...MONEY_FIELDS, ...OTHER_FIELDS].map(({ pointer }) => pointer);

/**
 * The field at which each warning is shown: the one it points at or into, the item it points into, the first field of the customer for
 * the whole of it, or '' for what is no field of an order. Those of one field stay in the order in which they were given.
 */
export function warningsByField(warnings: readonly Warning[]): Map<string, Warning[]> {
  // Entries that were no items are not among the order's, so those behind them moved up.
  const dropped = warnings.flatMap(({ pointer, code }) => (code === 'not_an_item' ? [itemIndexOf(pointer)] : []));
  return Map.groupBy(warnings, (warning) => fieldOf(warning, dropped));
}

function fieldOf({ pointer, code }: Warning, dropped: number[]): string {
  if (code === 'not_an_item' || pointer === '/items') return '/items';
  if (pointer.startsWith('/items/')) {
    const index = itemIndexOf(pointer);
    return `/items/${index - dropped.filter((one) => one < index).length}`;
  }
  if (code === 'unknown_field') return '';
  const plain = pointer.replace(/^\/customer\/0/, '/customer');
  if (plain === '/customer') return '/customer/name';
  return ALL_FIELDS.find((field) => plain === field || plain.startsWith(`${field}/`)) ?? '';
}

/** A single item that came without a list is the first. */
function itemIndexOf(pointer: string): number {
  return Number(/^\/items\/(\d+)/.exec(pointer)?.[1] ?? 0);
}

/** Where a dispatcher who mends warnings begins: the first field with one in reading order, or null. */
export function firstWarnedField(order: Order): string | null {
  const warned = warningsByField(order.warnings);
  const items = order.items.map((_, index) => `/items/${index}`);
  const inReadingOrder = [...FIELDS.map(({ pointer }) => pointer), ...items, ...ALL_FIELDS];
  return inReadingOrder.find((pointer) => warned.has(pointer)) ?? null;
}
