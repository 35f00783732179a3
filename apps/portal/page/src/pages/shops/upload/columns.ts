import { toJsonPointer } from '@orders/domain/sources/json-pointer.ts';
import { suggestFields } from '@orders/domain/sources/suggest-field.ts';
import { fieldOfHeading } from '@orders/order-files/headings.ts';
import type { OrderMapping } from '../../../api/sources.ts';
import { ORDER_FIELDS } from '../../../components/order-values.ts';

/** The field of each column as a pointer, such as `/customer/phone`; null for one that is left out. */
export type Columns = readonly (string | null)[];

const ITEM_FIELDS = ['name', 'quantity', 'sku'].map((member) => `/items/0/${member}`);

/** The fields that a column can have; those of further items only if a heading means them. */
const FIELDS = ['/source_order_id', ...ORDER_FIELDS.flatMap((field) => (field === '/items' ? ITEM_FIELDS : field))];

/** What is offered for these columns. */
export function fieldsFor(columns: Columns): string[] {
  const others = columns.filter((field) => field !== null && !FIELDS.includes(field)) as string[];
  return [...FIELDS, ...new Set(others)];
}

/** What the headings probably mean. */
export function suggestColumns(headings: readonly string[]): Columns {
  const named = headings.map((heading) => {
    const field = fieldOfHeading(heading);
    if (field?.startsWith('/address/')) return '/address';
    // A column "customer" or "items" has one name.
    return field === '/customer' || field === '/items' ? undefined : field;
  });
  const suggested = suggestFields(headings.map((heading, at) => (named[at] === undefined ? heading : '')));
  return named.map((field, at) => field ?? (named.includes(suggested[at] ?? '') ? null : (suggested[at] ?? null)));
}

/** Columns of one field are joined, or all are kept: parts of a name or an address, and details. Of others, the first value counts. */
const IN_PARTS: ReadonlySet<string> = new Set(['/customer/name', '/address', '/details']);

/** The fields of which only one of several columns counts. */
export function sharedFields(columns: Columns): string[] {
  const isShared = (field: string | null, at: number) =>
    field !== null && !IN_PARTS.has(field) && columns.indexOf(field) !== at;
  return [...new Set(columns.filter(isShared) as string[])];
}

/** The mapping that the columns describe; null without an order id, which each order needs. */
export function mappingOfColumns(headings: readonly string[], columns: Columns): OrderMapping | null {
  const byField = Map.groupBy(
    [...columns.entries()].filter(([, field]) => field !== null),
    ([, field]) => field as string,
  );
  if (!byField.has('/source_order_id')) return null;
  const mapping: Record<string, unknown> = {};
  // By their number, which headings such as "Item 2" have.
  const items: Record<string, Record<string, unknown>> = {};
  for (const [field, entries] of byField) {
    const names = entries.map(([at]) => headings[at] ?? '');
    const pointers = names.map((name) => toJsonPointer([name]));
    const value =
      field === '/details' ? names.map((label, at) => ({ label, value: pointers[at] })) : sourceOf(field, pointers);
    const [name = '', index, member] = field.slice(1).split('/');
    if (index !== undefined && member !== undefined) items[index] = { ...items[index], [member]: value };
    else if (index === undefined) mapping[name] = value;
    else mapping[name] = { ...(mapping[name] as object | undefined), [index]: value };
  }
  const numbered = Object.values(items);
  return { ...mapping, ...(numbered.length > 0 && { items: numbered }) } as unknown as OrderMapping;
}

/** Several columns are parts of an address or a name, and alternatives of all else. */
function sourceOf(field: string, pointers: readonly string[]): unknown {
  if (pointers.length === 1) return pointers[0];
  if (field === '/address') return { join: pointers, separator: ', ' };
  return field === '/customer/name' ? { join: pointers } : pointers;
}

const STORED = 'upload columns';
const MAX_STORED = 20;

/** What was chosen for a table with these headings before; null if it is the first one. @param key of the headings; null if they have none. */
export function rememberedColumns(accountId: number, key: string | null): Columns | null {
  return key === null ? null : (readStored()[`${accountId} ${key}`] ?? null);
}

/** Remembers the choice in this browser, without the headings: a table without a line of them has an order there. */
export function rememberColumns(accountId: number, key: string | null, columns: Columns): void {
  if (key === null) return;
  const { [`${accountId} ${key}`]: _, ...others } = readStored();
  const kept = [...Object.entries(others), [`${accountId} ${key}`, columns] as const].slice(-MAX_STORED);
  try {
    localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // The browser stores no more.
  }
}

function readStored(): Record<string, Columns> {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? '{}');
  } catch {
    return {};
  }
}
