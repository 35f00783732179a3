import { emailInText, NUMBERS_OF_AN_ORDER, someText, withoutExtension } from './contacts.ts';
import { LIMITS } from './normalize/limits.ts';
import { phoneInText } from './normalize/phone/phone-in-text.ts';
import { readPhone } from './normalize/phone/read-phone.ts';
import { readText } from './normalize/text.ts';
import { WarningList } from './normalize/warnings.ts';
import type { Customer, Order } from './order.ts';

/** By what a customer is known, in any usual spelling; what is not given does not matter, and of several each alone is enough. */
interface CustomerIdentity {
  phone?: string | undefined;
  email?: string | undefined;
  customerId?: string | undefined;
}

/** Tells what is about one customer. */
export interface CustomerSearch {
  /** The phone number, in E.164, and the e-mail address that are looked for. */
  contacts: readonly string[];
  /** Whether a normalized customer has the phone, whatever its extension, the e-mail address, in any case, or exactly the id. */
  isCustomer(customer: Partial<Customer>): boolean;
  /**
   * Whether the phone or the e-mail address stands anywhere in a JSON value: in a text, as a number or in the name of a member, but in no
   * id, sku, quantity or total. A phone number without country code, 0 or + counts in a member `phone` alone.
   */
  isMentioned(value: unknown): boolean;
  /**
   * Where an order is about the customer: names of its fields, none of a sender's own members.
   *
   * @param said what else to look through: the members of its payload, or of the order.
   */
  whereIn(order: Order, said: object): string[];
}

const KNOWN = [
  ...['customer', 'address', 'emirate', 'area', 'items', 'currency', 'delivery_instructions'],
  ...['review_reason', 'body'],
];

/** Prepares to look for a customer. */
export function searchCustomer({ phone, email, customerId }: CustomerIdentity): CustomerSearch {
  const warnings = new WarningList();
  const wanted = {
    phone: plain(readPhone(phone, '/customer/phone', warnings)),
    email: readText(email, '/customer/email', LIMITS.email, warnings)?.toLowerCase() ?? null,
    id: readText(customerId, '/customer/id', LIMITS.customerId, warnings),
  };
  const byPhone = wanted.phone === null ? null : phoneInText(wanted.phone);
  const byEmail = wanted.email === null ? null : emailInText(wanted.email);
  const fieldsOf = (customer: Partial<Customer>) => [
    ...(isSame(wanted.phone, plain(customer.phone)) ? ['customer.phone'] : []),
    ...(isSame(wanted.email, customer.email?.toLowerCase()) ? ['customer.email'] : []),
    ...(isSame(wanted.id, customer.id) ? ['customer.id'] : []),
  ];
  const isMentioned = (value: unknown) =>
    someText(value, (text, isPhone) => {
      const inPhone = isPhone ? byPhone?.isInPhone(text) : byPhone?.isInText(text);
      return inPhone || byEmail?.(text) || false;
    });
  return {
    contacts: [wanted.phone, wanted.email].filter((contact) => contact !== null),
    isCustomer: (customer) => fieldsOf(customer).length > 0,
    isMentioned,
    whereIn: (order, said) => [
      ...fieldsOf(order.customer),
      ...Object.entries(said)
        .filter(([name, member]) => !NUMBERS_OF_AN_ORDER.has(name) && isMentioned({ [name]: member }))
        .map(([name]) => (KNOWN.includes(name) ? name : 'another member')),
    ],
  };
}

function isSame(wanted: string | null, value: string | null | undefined): boolean {
  return wanted !== null && wanted === value;
}

function plain(phone: string | null | undefined): string | null {
  return phone ? withoutExtension(phone) : null;
}
