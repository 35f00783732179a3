import { isJsonObject } from './normalize/json-object.ts';
import { readAmount } from './normalize/money/amount.ts';
import { findPhone } from './normalize/phone/read-phone.ts';
import { cleanText } from './normalize/text.ts';
import { WarningList } from './normalize/warnings.ts';
import type { Order } from './order.ts';
import { ofTextFields, TEXT_FIELD_NAMES } from './text-fields.ts';

const FIELDS = ['order_number', 'address', 'emirate', 'area', 'items', 'total', ...TEXT_FIELD_NAMES] as const;
const CUSTOMER_FIELDS = ['name', 'phone', 'email', 'id'] as const;

/** An order as a payload says it, and the fields that the payload does not mention. */
export interface SentOrder {
  order: Order;
  /** Pointers, see `absentFields`. */
  absent: readonly string[];
}

/**
 * The fields of an order that a payload does not mention, by pointer (RFC 6901). `null` and an empty value are mentioned: they say that
 * there is nothing. Pure; never throws for any JSON object.
 */
export function absentFields(payload: Record<string, unknown>): string[] {
  const absent = FIELDS.filter((name) => !Object.hasOwn(payload, name)).map((name) => `/${name}`);
  if (!Object.hasOwn(payload, 'currency') && !namesCurrency(payload.total)) absent.push('/currency');
  const isAbsent = absentInCustomer(payload.customer);
  return [...absent, ...CUSTOMER_FIELDS.filter(isAbsent).map((name) => `/customer/${name}`)];
}

/** As `readCustomer` reads it: an object, alone or in a list, or a text with a name and perhaps a phone number. */
function absentInCustomer(value: unknown): (name: (typeof CUSTOMER_FIELDS)[number]) => boolean {
  if (value === undefined) return () => true;
  const customer = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (isJsonObject(customer)) return (name) => !Object.hasOwn(customer, name);
  const text = typeof value === 'string' ? cleanText(value, '', new WarningList()) : '';
  if (text === '') return () => false;
  const hasPhone = findPhone(text) !== null;
  return (name) => name !== 'name' && !(name === 'phone' && hasPhone);
}

function namesCurrency(total: unknown): boolean {
  return typeof total === 'string' && Boolean(readAmount(cleanText(total, '', new WarningList()))?.currency);
}

/**
 * The order that a later payload means: what it does not mention stays as it was. An emirate that was only inferred counts if the address or
 * the area is another one.
 */
export function mergeSent(before: Order, { order, absent }: SentOrder): Order {
  if (absent.length === 0) return order;
  const isAbsent = new Set(absent);
  const kept = <Name extends keyof Order>(name: Name): Order[Name] =>
    isAbsent.has(`/${name}`) ? before[name] : order[name];
  const inCustomer = (name: keyof Order['customer']) =>
    isAbsent.has(`/customer/${name}`) ? before.customer[name] : order.customer[name];
  const address = kept('address');
  // An area that is not mentioned can be part of the emirate.
  const area = order.area ?? kept('area');
  const isElsewhere = address !== before.address || area !== before.area;
  const { emirate, emirate_code } =
    !isAbsent.has('/emirate') || (order.emirate_code !== null && isElsewhere) ? order : before;
  return {
    source_order_id: order.source_order_id,
    order_number: kept('order_number'),
    customer: {
      name: inCustomer('name'),
      phone: inCustomer('phone'),
      email: inCustomer('email'),
      id: inCustomer('id'),
    },
    address,
    emirate,
    emirate_code,
    area,
    items: kept('items'),
    total: kept('total'),
    currency: kept('currency'),
    ...ofTextFields(kept),
  };
}
