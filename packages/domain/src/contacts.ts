import { findNumbers } from './normalize/phone/find-numbers.ts';
import { phoneInText } from './normalize/phone/phone-in-text.ts';
import { findPhone } from './normalize/phone/read-phone.ts';

/** Members of an order, at any depth, whose digits are no phone number, however much they look like one. */
export const NUMBERS_OF_AN_ORDER: ReadonlySet<string> = new Set([
  ...['source_order_id', 'order_number', 'id', 'sku', 'quantity', 'total'],
]);

/** Bounded before the @, or a long text without one would take for ever. */
const EMAIL = /(?<![\p{L}\p{N}._%+'-])[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;

/** The phone numbers, in E.164, and e-mail addresses in an order or a payload, but for those in its items. */
export function contactsIn(order: object): string[] {
  const found: string[] = [];
  someText({ ...order, items: null }, (text, isPhone) => {
    const numbers = isPhone ? findNumbers(text).numbers.map(({ number }) => number) : [findPhone(text)];
    found.push(...numbers.filter((number) => number !== null).map(withoutExtension), ...(text.match(EMAIL) ?? []));
    return false;
  });
  return found;
}

/** Tells whether one of these phone numbers and e-mail addresses stands in a text of the order that they were found in. */
export function mentionsAny(contacts: Iterable<string>): (text: string) => boolean {
  const finders = [...new Set(contacts)].map((contact) =>
    contact.includes('@') ? emailInText(contact) : phoneInText(contact)?.isInPhone,
  );
  return (text) => finders.some((finds) => finds?.(text));
}

/** As `readPhone` writes it behind a number. */
export function withoutExtension(phone: string): string {
  return phone.replace(/ ext\. \d+$/, '');
}

/** The address and no longer one that it is a part of. */
export function emailInText(address: string): (text: string) => boolean {
  const literal = address.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}._%+'\-])${literal}(?![\p{L}\p{N}\-]|\.[\p{L}\p{N}])`, 'iu');
  return (text) => pattern.test(text);
}

/**
 * Whether a text, a number or the name of a member in a JSON value passes a test, which is told whether it is that of a member `phone`.
 * What `NUMBERS_OF_AN_ORDER` lists is left out. Bodies are no deeper than `parseBody` allows, so this goes no deeper either.
 */
export function someText(value: unknown, test: (text: string, isPhone: boolean) => boolean, isPhone = false): boolean {
  if (typeof value === 'string') return test(value, isPhone);
  if (typeof value === 'number') return test(String(value), isPhone);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => {
    if (NUMBERS_OF_AN_ORDER.has(name)) return false;
    return (!Array.isArray(value) && test(name, false)) || someText(member, test, isPhone || name === 'phone');
  });
}
