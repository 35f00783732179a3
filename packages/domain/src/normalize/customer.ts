import { LIMITS } from '../interface-limits.ts';
import type { Customer } from '../order.ts';
import { isJsonObject, type JsonObject, parseJsonText } from './json-object.ts';
import { findPhone, readPhone } from './phone/read-phone.ts';
import { cutText, readText, readUnlimitedText } from './text.ts';
import { type WarningList, warnOfUnknownMembers } from './warnings.ts';

const POINTER = '/customer';
const MEMBERS: ReadonlySet<string> = new Set(['name', 'phone', 'email', 'id']);
const EMPTY: Readonly<Customer> = { name: null, phone: null, email: null, id: null };

/** Reads the customer: an object, a list of one object, or a string that becomes the name and is searched for a phone. */
export function readCustomer(value: unknown, warnings: WarningList): Customer {
  if (value === undefined || value === null) return { ...EMPTY };
  // A list of one as some programs encode it.
  if (isJsonObject(value) && isJsonObject(value[0]) && Object.keys(value).length === 1)
    return readCustomer([value[0]], warnings);
  if (isJsonObject(value)) return readMembers(value, POINTER, warnings);
  if (typeof value === 'string') {
    const parsed = parseJsonText(value);
    if (!parsed) return readFreeText(value, warnings);
    warnings.add(POINTER, 'json_as_text');
    return warnings.readInside(POINTER, (inner) => readCustomer(parsed, inner));
  }
  if (Array.isArray(value) && value.length === 1 && isJsonObject(value[0])) {
    warnings.add(POINTER, 'customer_in_list');
    return readMembers(value[0], `${POINTER}/0`, warnings);
  }
  warnings.add(POINTER, 'not_an_object');
  return { ...EMPTY };
}

function readMembers(customer: JsonObject, pointer: string, warnings: WarningList): Customer {
  warnOfUnknownMembers(customer, MEMBERS, pointer, warnings);
  return {
    name: readText(customer.name, `${pointer}/name`, LIMITS.customerName, warnings),
    phone: readPhone(customer.phone, `${pointer}/phone`, warnings),
    email: readEmail(customer.email, `${pointer}/email`, warnings),
    id: readText(customer.id, `${pointer}/id`, LIMITS.customerId, warnings),
  };
}

function readFreeText(text: string, warnings: WarningList): Customer {
  const cleaned = readUnlimitedText(text, POINTER, warnings);
  if (cleaned === null) return { ...EMPTY };
  warnings.add(POINTER, 'customer_as_text');
  return { ...EMPTY, name: cutText(cleaned, POINTER, LIMITS.customerName, warnings), phone: findPhone(cleaned) };
}

/** Reads an e-mail address, trimmed; an implausible one leaves a warning. */
function readEmail(value: unknown, pointer: string, warnings: WarningList): string | null {
  const text = readText(value, pointer, LIMITS.email, warnings);
  if (text !== null && !isPlausible(text)) warnings.add(pointer, 'email_implausible');
  return text;
}

/** A local part, one @, a domain with a dot inside, no white space. */
function isPlausible(text: string): boolean {
  const [local, domain, ...rest] = text.split('@');
  return Boolean(local && domain) && rest.length === 0 && !/\s/.test(text) && /^[^.].*\.[^.]+$/.test(domain ?? '');
}
