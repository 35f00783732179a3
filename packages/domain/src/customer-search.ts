import { LIMITS } from './normalize/limits.ts';
import { phoneInText } from './normalize/phone/phone-in-text.ts';
import { readPhone } from './normalize/phone/read-phone.ts';
import { readText } from './normalize/text.ts';
import { WarningList } from './normalize/warnings.ts';
import type { Customer } from './order.ts';

/** By what a customer is known, in any usual spelling; what is not given does not matter, and of several each alone is enough. */
interface CustomerIdentity {
  phone?: string | undefined;
  email?: string | undefined;
  customerId?: string | undefined;
}

/** Tells what is about one customer. */
export interface CustomerSearch {
  /** Whether a normalized customer has the phone, whatever its extension, the e-mail address, in any case, or exactly the id. */
  isCustomer(customer: Partial<Customer>): boolean;
  /** Whether the phone or the e-mail address stands anywhere in a JSON value: in a text, as a number or in the name of a member. */
  isMentioned(value: unknown): boolean;
}

/** Prepares to look for a customer. */
export function searchCustomer({ phone, email, customerId }: CustomerIdentity): CustomerSearch {
  const warnings = new WarningList();
  const wanted = {
    phone: withoutExtension(readPhone(phone, '/customer/phone', warnings)),
    email: readText(email, '/customer/email', LIMITS.email, warnings)?.toLowerCase() ?? null,
    id: readText(customerId, '/customer/id', LIMITS.customerId, warnings),
  };
  const finders = [
    wanted.phone === null ? null : phoneInText(wanted.phone),
    wanted.email === null ? null : emailInText(wanted.email),
  ].filter((finder) => finder !== null);
  return {
    isCustomer: (customer) =>
      isSame(wanted.phone, withoutExtension(customer.phone)) ||
      isSame(wanted.email, customer.email?.toLowerCase()) ||
      isSame(wanted.id, customer.id),
    isMentioned: (value) => someText(value, (text) => finders.some((finds) => finds(text))),
  };
}

function isSame(wanted: string | null, value: string | null | undefined): boolean {
  return wanted !== null && wanted === value;
}

/** As `readPhone` writes it behind a number. */
function withoutExtension(phone: string | null | undefined): string | null {
  return phone?.replace(/ ext\. \d+$/, '') ?? null;
}

/** The address and no longer one that it is a part of. */
function emailInText(address: string): (text: string) => boolean {
  const literal = address.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}._%+'\-])${literal}(?![\p{L}\p{N}\-]|\.[\p{L}\p{N}])`, 'iu');
  return (text) => pattern.test(text);
}

/** Bodies are no deeper than `parseBody` allows, so this goes no deeper either. */
function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value);
  if (typeof value === 'number') return test(String(value));
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) => (!Array.isArray(value) && test(name)) || someText(member, test),
  );
}
