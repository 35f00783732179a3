import { TEXT_FIELD_NAMES, TEXT_FIELDS } from '@orders/domain/text-fields.ts';
import type { ListedOrder, Order, Warning } from '../../../api/review.ts';

/** The kind of a field's editor. */
export type FieldKind = 'text' | 'long' | 'code' | 'amount' | 'phone' | 'emirate' | 'choice';

export interface FieldEntry {
  pointer: string;
  kind: FieldKind;
  /** What it means if the value is missing: the order cannot be delivered, or a person should look. */
  need?: 'blocks' | 'check';
  valueOf(order: ListedOrder): string | null;
}

/** What a reviewer matches first. */
export const KEY_FIELDS: FieldEntry[] = [
  { pointer: '/customer/name', kind: 'text', need: 'check', valueOf: ({ customer }) => customer.name },
  { pointer: '/customer/phone', kind: 'phone', need: 'blocks', valueOf: ({ customer }) => customer.phone },
  { pointer: '/total', kind: 'amount', need: 'check', valueOf: ({ total }) => total },
];

/** Where it goes; the items follow. */
export const PLACE_FIELDS: FieldEntry[] = [
  { pointer: '/address', kind: 'long', need: 'blocks', valueOf: ({ address }) => address },
  { pointer: '/emirate', kind: 'emirate', need: 'blocks', valueOf: ({ emirate }) => emirate },
  { pointer: '/area', kind: 'text', valueOf: ({ area }) => area },
  ...TEXT_FIELD_NAMES.map(
    (name): FieldEntry => ({
      pointer: `/${name}`,
      kind: 'values' in TEXT_FIELDS[name] ? 'choice' : 'long',
      valueOf: (order) => order[name],
    }),
  ),
];

/** Seldom read. */
export const MINOR_FIELDS: FieldEntry[] = [
  { pointer: '/currency', kind: 'code', valueOf: ({ currency }) => currency },
  { pointer: '/order_number', kind: 'text', valueOf: ({ order_number }) => order_number },
  { pointer: '/customer/email', kind: 'code', valueOf: ({ customer }) => customer.email },
  { pointer: '/customer/id', kind: 'text', valueOf: ({ customer }) => customer.id },
];

const ALL_FIELDS = [...KEY_FIELDS, ...PLACE_FIELDS, ...MINOR_FIELDS].map(({ pointer }) => pointer);

/** The pointer that appends an item. */
export const NEW_ITEM = '/items/-';

/** The field that removes a reason why an order cannot be delivered. */
export const BLOCKED_FIELD: Record<Order['blockers'][number], string> = {
  no_reachable_phone: '/customer/phone',
  no_address: '/address',
  no_emirate: '/emirate',
  no_items: NEW_ITEM,
};

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

/** The first field that blocks the delivery, or else has a warning, in reading order; or null. */
export function firstWarnedField(order: Order): string | null {
  const [blocker] = order.blockers;
  if (blocker) return BLOCKED_FIELD[blocker];
  const items = order.items.map((_, index) => `/items/${index}`);
  const inReadingOrder = [...[...KEY_FIELDS, ...PLACE_FIELDS].map(({ pointer }) => pointer), ...items, ...ALL_FIELDS];
  const firstOf = (warnings: Warning[]) => {
    const warned = warningsByField(warnings);
    return inReadingOrder.find((pointer) => warned.has(pointer)) ?? null;
  };
  return firstOf(order.warnings.filter(({ severity }) => severity === 'check')) ?? firstOf(order.warnings);
}
