import { emailInText, NON_PHONE_MEMBERS, someText, withoutExtension } from './contacts.ts';
import { LIMITS } from './normalize/limits.ts';
import { phoneInText } from './normalize/phone/phone-in-text.ts';
import { readPhone } from './normalize/phone/read-phone.ts';
import { readText } from './normalize/text.ts';
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
