import type { ListedOrder, Order, Warning } from '../../api/review.ts';

/** The kind of a field's editor. */
export type FieldKind = 'text' | 'long' | 'code' | 'phone' | 'emirate';

export interface FieldEntry {
  pointer: string;
  kind: FieldKind;
  valueOf(order: ListedOrder): string | null;
}

/** In a dispatcher's reading order; the items follow, then the rest. */
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
 * Groups warnings by the field that shows them: the field or item that contains the pointer, the first customer field for the whole
 * customer, or '' for anything else. The order within a group is kept.
 */
export function warningsByField(warnings: readonly Warning[]): Map<string, Warning[]> {
  // The order has no entry for a value that is not an item, so later items have moved up.
  const dropped = warnings.flatMap(({ pointer, code }) => (code === 'not_an_item' ? [itemIndexOf(pointer)] : []));
  return Map.groupBy(warnings, (warning) => fieldOf(warning, dropped));
}

function fieldOf({ pointer, code }: Warning, dropped: number[]): string {
  if (code === 'not_an_item' || pointer === '/items') return '/items';
  if (pointer.startsWith('/items/')) {
    const index = itemIndexOf(pointer);
    return `/items/${index - dropped.filter((other) => other < index).length}`;
  }
  if (code === 'unknown_field') return '';
  const target = pointer.replace(/^\/customer\/0/, '/customer');
  if (target === '/customer') return '/customer/name';
  return ALL_FIELDS.find((field) => target === field || target.startsWith(`${field}/`)) ?? '';
}

/** An item sent without a list has index 0. */
function itemIndexOf(pointer: string): number {
  return Number(/^\/items\/(\d+)/.exec(pointer)?.[1] ?? 0);
}

/** The first field with a warning in reading order, or null. */
export function firstWarnedField(order: Order): string | null {
  const warned = warningsByField(order.warnings);
  const items = order.items.map((_, index) => `/items/${index}`);
  const inReadingOrder = [...FIELDS.map(({ pointer }) => pointer), ...items, ...ALL_FIELDS];
  return inReadingOrder.find((pointer) => warned.has(pointer)) ?? null;
}
