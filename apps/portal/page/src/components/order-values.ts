import type { TFunction } from 'i18next';
import type { Order } from '../api/review.ts';
import { formatAmount, formatPhone } from './format-value.ts';

/** A field in which one order differs from another, or from what it was, by its pointer in the normalized order. */
export interface Change {
  pointer: string;
  from: unknown;
  to: unknown;
  /** Both values were too long to keep. */
  cut?: true | undefined;
}

type Item = Order['items'][number];

/** The names of the fields below `field` of the texts, by their pointers. */
const NAMES: Record<string, string> = {
  '/customer/name': 'customerName',
  '/customer/phone': 'phone',
  '/address': 'address',
  '/emirate': 'emirate',
  '/area': 'area',
  '/delivery_instructions': 'instructions',
  '/items': 'items',
  '/total': 'total',
  '/currency': 'currency',
  '/order_number': 'orderNumber',
  '/customer/email': 'email',
  '/customer/id': 'customerId',
};

/** The names by which the service knows them: what is sent must not depend on the reader's language. */
export const EMIRATE_NAMES = {
  'AE-AZ': 'Abu Dhabi',
  'AE-AJ': 'Ajman',
  'AE-DU': 'Dubai',
  'AE-FU': 'Fujairah',
  'AE-RK': 'Ras Al Khaimah',
  'AE-SH': 'Sharjah',
  'AE-UQ': 'Umm Al Quwain',
};

/** What a field is called, of an item with its number. `t` knows the texts of `review`. */
export function fieldLabel(t: TFunction, pointer: string): string {
  const [, index, member] = /^\/items\/(\d+)(?:\/(name|quantity|sku))?$/.exec(pointer) ?? [];
  if (index !== undefined) {
    return `${t('review:field.items')} ${Number(index) + 1}${member ? `: ${t(`review:item.${member}`)}` : ''}`;
  }
  const name = NAMES[pointer];
  return name ? t(`review:field.${name}`) : pointer;
}

/** A value of a field as people read it. */
export function fieldText(t: TFunction, pointer: string, value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return value.length === 0 ? '–' : (value as Item[]).map(itemText).join('\n');
  const text = String(value);
  if (pointer === '/total') return formatAmount(text);
  if (pointer === '/customer/phone') return formatPhone(text);
  if (pointer !== '/emirate') return text;
  const [code] = Object.entries(EMIRATE_NAMES).find(([, name]) => name === text) ?? [];
  return code ? t(`review:emirate.${code}`) : text;
}

function itemText({ quantity, name, sku }: Item): string {
  return `${quantity ?? '–'} × ${name ?? '–'}${sku === null ? '' : ` (${sku})`}`;
}

/** What an order has at a pointer; null where it has nothing. */
export function valueAt(order: Order, pointer: string): unknown {
  let value: unknown = order;
  for (const member of pointer.slice(1).split('/')) value = (value as Record<string, unknown> | null)?.[member] ?? null;
  return value;
}

/** Changes as they are read: the code of an emirate goes with its name. */
export function readable<C extends { pointer: string }>(changes: readonly C[]): C[] {
  const isNamed = changes.some(({ pointer }) => pointer === '/emirate');
  return changes.filter(({ pointer }) => !(isNamed && pointer === '/emirate_code'));
}

/** Whether two values of an order's field are the same, by their JSON: items too. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
