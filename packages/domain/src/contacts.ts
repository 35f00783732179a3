import { findNumbers } from './normalize/phone/find-numbers.ts';
import { phoneInText } from './normalize/phone/phone-in-text.ts';
import { findPhone } from './normalize/phone/read-phone.ts';

/** Members, at any depth, whose digits are never a phone number. */
export const NON_PHONE_MEMBERS: ReadonlySet<string> = new Set([
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
export function withoutExtension(phone: string): string {
  return phone.replace(/ ext\. \d+$/, '');
}

/** Finds the address, but not as a part of a longer one. */
export function emailInText(address: string): (text: string) => boolean {
  const literal = address.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}._%+'\-])${literal}(?![\p{L}\p{N}\-]|\.[\p{L}\p{N}])`, 'iu');
  return (text) => pattern.test(text);
}

/**
 * Whether any string, number or member name in a JSON value passes a test; `isPhone` is set inside a member `phone`. Members of
 * `NON_PHONE_MEMBERS` are skipped. The depth is bounded by `parseBody`.
 */
export function someText(value: unknown, test: (text: string, isPhone: boolean) => boolean, isPhone = false): boolean {
  if (typeof value === 'string') return test(value, isPhone);
  if (typeof value === 'number') return test(String(value), isPhone);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => {
    if (NON_PHONE_MEMBERS.has(name)) return false;
    return (!Array.isArray(value) && test(name, false)) || someText(member, test, isPhone || name === 'phone');
  });
}
