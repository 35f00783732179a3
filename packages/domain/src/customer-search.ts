import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { LIMITS } from './interface-limits.ts';
import { findNumbers } from './normalize/phone/find-numbers.ts';
import { findPhone, readPhone } from './normalize/phone/read-phone.ts';
import { readText, removeInvisible, toAsciiDigits } from './normalize/text.ts';
import { WarningList } from './normalize/warnings.ts';
import type { Customer, Order } from './order.ts';
import { TEXT_FIELD_NAMES } from './text-fields.ts';

/** What identifies a customer, in any usual spelling. Each given member alone is enough for a match. */
interface CustomerIdentity {
  phone?: string | undefined;
  email?: string | undefined;
  customerId?: string | undefined;
}

/** Finds data about one customer. */
export interface CustomerSearch {
  /** The phone number, in E.164, and the e-mail address searched for. */
  contacts: readonly string[];
  /** Whether a normalized customer has the phone (any extension), the e-mail address (any case) or exactly the id. */
  isCustomer(customer: Partial<Customer>): boolean;
  /**
   * Whether a JSON value contains the phone or the e-mail address in a string, number or member name, except in ids, skus, quantities and
   * totals. A phone number without country code, 0 or + counts only in a member `phone`.
   */
  isMentioned(value: unknown): boolean;
  /**
   * The fields of an order that are about the customer; a sender's own members are not named.
   *
   * @param source also searched: the members of the payload or of the order.
   */
  whereIn(order: Order, source: object): string[];
}

const KNOWN_MEMBERS = [
  ...['customer', 'address', 'emirate', 'area', 'items', 'currency', ...TEXT_FIELD_NAMES],
  ...['review_reason', 'body'],
];

export function searchCustomer({ phone, email, customerId }: CustomerIdentity): CustomerSearch {
  const warnings = new WarningList();
  const identity = {
    phone: normalizedPhone(readPhone(phone, '/customer/phone', warnings)),
    email: readText(email, '/customer/email', LIMITS.email, warnings)?.toLowerCase() ?? null,
    id: readText(customerId, '/customer/id', LIMITS.customerId, warnings),
  };
  const byPhone = identity.phone === null ? null : phoneInText(identity.phone);
  const byEmail = identity.email === null ? null : emailInText(identity.email);
  const fieldsOf = (customer: Partial<Customer>) => [
    ...(isSame(identity.phone, normalizedPhone(customer.phone)) ? ['customer.phone'] : []),
    ...(isSame(identity.email, customer.email?.toLowerCase()) ? ['customer.email'] : []),
    ...(isSame(identity.id, customer.id) ? ['customer.id'] : []),
  ];
  const isMentioned = (value: unknown) =>
    someText(value, (text, isPhone) => {
      const inPhone = isPhone ? byPhone?.isInPhone(text) : byPhone?.isInText(text);
      return inPhone || byEmail?.(text) || false;
    });
  return {
    contacts: [identity.phone, identity.email].filter((contact) => contact !== null),
    isCustomer: (customer) => fieldsOf(customer).length > 0,
    isMentioned,
    whereIn: (order, source) => [
      ...fieldsOf(order.customer),
      ...Object.entries(source)
        .filter(([name, member]) => !NON_PHONE_MEMBERS.has(name) && isMentioned({ [name]: member }))
        .map(([name]) => (KNOWN_MEMBERS.includes(name) ? name : 'another member')),
    ],
  };
}

function isSame(identity: string | null, value: string | null | undefined): boolean {
  return identity !== null && identity === value;
}

function normalizedPhone(phone: string | null | undefined): string | null {
  return phone ? withoutExtension(phone) : null;
}

/** Members, at any depth, whose digits are never a phone number. */
const NON_PHONE_MEMBERS: ReadonlySet<string> = new Set([
  ...['source_order_id', 'order_number', 'id', 'sku', 'quantity', 'total'],
]);

/** Bounded before the @; otherwise a long text without one takes quadratic time. */
const EMAIL = /(?<![\p{L}\p{N}._%+'-])[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;

/** The phone numbers, in E.164, and e-mail addresses in an order or a payload, except in its items. */
export function contactsIn(order: object): string[] {
  const found: string[] = [];
  someText({ ...order, items: null }, (text, isPhone) => {
    const numbers = isPhone ? findNumbers(text).numbers.map(({ number }) => number) : [findPhone(text)];
    found.push(...numbers.filter((number) => number !== null).map(withoutExtension), ...(text.match(EMAIL) ?? []));
    return false;
  });
  return found;
}

/** A test whether a string of an order contains one of the phone numbers and e-mail addresses found in that order. */
export function mentionsAny(contacts: Iterable<string>): (text: string) => boolean {
  const finders = [...new Set(contacts)].map((contact) =>
    contact.includes('@') ? emailInText(contact) : phoneInText(contact)?.isInPhone,
  );
  return (text) => finders.some((finds) => finds?.(text));
}

/** Removes the extension that `readPhone` appends. */
function withoutExtension(phone: string): string {
  return phone.replace(/ ext\. \d+$/, '');
}

/** Finds the address, but not as a part of a longer one. */
function emailInText(address: string): (text: string) => boolean {
  const literal = address.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}._%+'\-])${literal}(?![\p{L}\p{N}\-]|\.[\p{L}\p{N}])`, 'iu');
  return (text) => pattern.test(text);
}

/**
 * Whether any string, number or member name in a JSON value passes a test; `isPhone` is set inside a member `phone`. Members of
 * `NON_PHONE_MEMBERS` are skipped. The depth is bounded by `parseBody`.
 */
function someText(value: unknown, test: (text: string, isPhone: boolean) => boolean, isPhone = false): boolean {
  if (typeof value === 'string') return test(value, isPhone);
  if (typeof value === 'number') return test(String(value), isPhone);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => {
    if (NON_PHONE_MEMBERS.has(name)) return false;
    return (!Array.isArray(value) && test(name, false)) || someText(member, test, isPhone || name === 'phone');
  });
}

/** Separators between the digits of one number; bounded, so that long runs of spaces cannot take quadratic time. */
const BETWEEN = String.raw`[\s().\-/_]{0,3}`;
/** Shorter numbers would match too much unrelated text. */
const MIN_DIGITS = 7;

/** Finds one phone number, however its digits are grouped. */
interface PhoneFinder {
  /** In arbitrary text, where digits alone may be an id: requires a country code, 0 or + before the number. */
  isInText(text: string): boolean;
  /** In a phone field: also without a prefix. */
  isInPhone(text: string): boolean;
}

/**
 * @param number in E.164.
 * @returns null if it is not a number, or too short to be found reliably.
 */
function phoneInText(number: string): PhoneFinder | null {
  const phone = parsePhoneNumberFromString(number);
  if (!phone || phone.nationalNumber.length < MIN_DIGITS) return null;
  const spaced = (digits: string) => [...digits].join(BETWEEN);
  const country = String.raw`(?:\+|00)?${BETWEEN}${spaced(phone.countryCallingCode)}${BETWEEN}(?:0${BETWEEN})?`;
  const prefix = `(?:${country}|[0+]${BETWEEN})`;
  const finder = (before: string) => {
    const pattern = new RegExp(String.raw`(?<!\d)${before}${spaced(phone.nationalNumber)}(?!\d)`);
    return (text: string) => pattern.test(toAsciiDigits(removeInvisible(text)));
  };
  return { isInText: finder(prefix), isInPhone: finder(`${prefix}?`) };
}
