import { TEXT_FIELD_NAMES, TEXT_FIELDS } from '@orders/domain/text-fields.ts';
import type { i18n, TFunction } from 'i18next';
import type { ListedOrder, Order } from '../api/review.ts';
import { cached } from './numbers.ts';

const amounts = cached(
  (language) => new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 6 }),
);

/** Formats a decimal string with thousands separators. It is never converted to a number, which would round it. */
export function formatAmount(total: string): string {
  return amounts().format(total as Intl.StringNumericLiteral);
}

/** The emirate in the reader's language, or the original text if it is not one of the seven. */
export function emirateText(
  t: TFunction,
  { emirate, emirate_code }: Pick<ListedOrder, 'emirate' | 'emirate_code'>,
): string | null {
  return emirate_code === null ? emirate : t(`emirate.${emirate_code}`);
}

/** Groups the digits of an Emirati phone number; others stay unchanged. */
export function formatPhone(phone: string): string {
  const [, mobile, rest, end] = /^\+971(\d{1,2})(\d{3})(\d{4})$/.exec(phone) ?? [];
  return mobile ? `+971 ${mobile} ${rest} ${end}` : phone;
}

/** The address of a link that calls the number (RFC 3966), with its extension. */
export function phoneAddress(phone: string): string {
  return `tel:${phone.replace(/[^+\d;=a-z]/gi, '')}`;
}

/** The digits of an international number with its plus, without its extension; null if it is not one. */
const dialled = (phone: string): string | null => /^\+\d{7,15}/.exec(phone)?.[0] ?? null;

/** The address of a link that writes to the number on WhatsApp; null if it is no international number. */
export function whatsAppAddress(phone: string, text?: string): string | null {
  const number = dialled(phone);
  return number && `https://wa.me/${number.slice(1)}${text === undefined ? '' : `?text=${encodeURIComponent(text)}`}`;
}

/** The address of a link that writes an SMS (RFC 5724); phones of Apple read the text only after an ampersand. */
export function smsAddress(phone: string, text: string): string | null {
  const number = dialled(phone);
  return number && `sms:${number}?&body=${encodeURIComponent(text)}`;
}

/** A field in which two versions of a normalized order differ, by its JSON pointer. */
export interface Change {
  pointer: string;
  from: unknown;
  to: unknown;
  /** Both values were too long to store. */
  cut?: true | undefined;
}

type Item = Order['items'][number];

/** Locale keys below `field` of the fields of an order besides its id, by pointer, in the order in which they are shown. */
const SHOWN: Record<string, string> = {
  '/order_number': 'orderNumber',
  '/customer/name': 'customerName',
  '/customer/phone': 'phone',
  '/customer/email': 'email',
  '/customer/id': 'customerId',
  '/address': 'address',
  '/emirate': 'emirate',
  '/area': 'area',
  '/items': 'items',
  '/total': 'total',
  '/currency': 'currency',
  ...Object.fromEntries(TEXT_FIELD_NAMES.map((name) => [`/${name}`, name])),
};
export const ORDER_FIELDS = Object.keys(SHOWN);

/** With what a changed delivery can say beside them. */
const NAMES: Record<string, string> = { ...SHOWN, '/cancelled': 'cancelled', '/finished': 'finished' };

/** Names that the API accepts, independent of the reader's language. */
export const EMIRATE_NAMES = {
  'AE-AZ': 'Abu Dhabi',
  'AE-AJ': 'Ajman',
  'AE-DU': 'Dubai',
  'AE-FU': 'Fujairah',
  'AE-RK': 'Ras Al Khaimah',
  'AE-SH': 'Sharjah',
  'AE-UQ': 'Umm Al Quwain',
};

/** The label of a field; an item's includes its number. `t` must know the namespace `review`. */
export function fieldLabel(t: TFunction, pointer: string): string {
  const [, index, member] = /^\/items\/(\d+)(?:\/(name|quantity|sku))?$/.exec(pointer) ?? [];
  if (index !== undefined) {
    return `${t('review:field.items')} ${Number(index) + 1}${member ? `: ${t(`review:item.${member}`)}` : ''}`;
  }
  const name = NAMES[pointer];
  return name ? t(`review:field.${name}`) : pointer;
}

/** What a warning says, in the reader's language if it has a text. `t` must know the namespace `review`. */
export function warningText(
  { t, i18n }: { t: TFunction; i18n: i18n },
  { code, detail }: { code: string; detail: string },
): string {
  const key = `review:warning.${code}`;
  return i18n.exists(key) ? t(key) : detail;
}

/** The only values of a text of an order; empty if it can be any text. */
export function valuesOf(name: string): string[] {
  const { values = {} } = (TEXT_FIELDS as Record<string, { values?: object }>)[name] ?? {};
  return Object.keys(values);
}

/** Formats the value of a field. */
export function fieldText(t: TFunction, pointer: string, value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return value.length === 0 ? '–' : (value as Item[]).map(itemText).join('\n');
  if (typeof value === 'boolean') return t(value ? 'review:field.yes' : 'review:field.no');
  const text = String(value);
  if (pointer === '/total') return formatAmount(text);
  if (pointer === '/customer/phone') return formatPhone(text);
  const name = pointer.slice(1);
  if (valuesOf(name).includes(text)) return t(`review:choice.${name}.${text}`);
  if (pointer !== '/emirate') return text;
  const [code] = Object.entries(EMIRATE_NAMES).find(([, name]) => name === text) ?? [];
  return code ? t(`review:emirate.${code}`) : text;
}

export function itemText({ quantity, name, sku }: Item): string {
  return `${quantity ?? '–'} × ${name ?? '–'}${sku === null ? '' : ` (${sku})`}`;
}

/** The value at a pointer, or null. */
export function valueAt(order: Order, pointer: string): unknown {
  let value: unknown = order;
  for (const member of pointer.slice(1).split('/')) value = (value as Record<string, unknown> | null)?.[member] ?? null;
  return value;
}

/** Omits the change of an emirate's code if its name changed too. */
export function displayedChanges<C extends { pointer: string }>(changes: readonly C[]): C[] {
  const isNamed = changes.some(({ pointer }) => pointer === '/emirate');
  return changes.filter(({ pointer }) => !(isNamed && pointer === '/emirate_code'));
}

/** Compares two values of a field, items included, by their JSON. */
export function isSameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
