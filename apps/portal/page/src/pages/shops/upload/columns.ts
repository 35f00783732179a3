import { toJsonPointer } from '@orders/domain/sources/json-pointer.ts';
import { suggestField } from '@orders/domain/sources/suggest-field.ts';
import { TEXT_FIELD_NAMES } from '@orders/domain/text-fields.ts';
import { fieldOfHeading } from '@orders/order-files/field-of-heading.ts';
import type { OrderMapping } from '../../../api/sources.ts';

/** The field of each column as a pointer, such as `/customer/phone`; null for one that is left out. */
export type Columns = readonly (string | null)[];

const ITEM_MEMBERS = ['name', 'quantity', 'sku'];

/** The fields that a column can have; those of further items only if a heading means them. */
const FIELDS = [
  '/source_order_id',
  '/order_number',
  '/customer/name',
  '/customer/phone',
  '/customer/email',
  '/customer/id',
  '/address',
  '/emirate',
  '/area',
  ...ITEM_MEMBERS.map((member) => `/items/0/${member}`),
  '/total',
  '/currency',
  ...TEXT_FIELD_NAMES.filter((name) => name !== 'details').map((name) => `/${name}`),
];

/** What is offered for these columns. */
export function fieldsFor(columns: Columns): string[] {
  const others = columns.filter((field) => field !== null && !FIELDS.includes(field)) as string[];
  return [...FIELDS, ...new Set(others)];
}

/** What the headings probably mean. */
export function suggestColumns(headings: readonly string[]): Columns {
  return headings.map((heading) => {
    const named = fieldOfHeading(heading);
    if (named?.startsWith('/address/')) return '/address';
    // A column "customer" or "items" has one name.
    return named === undefined || named === '/customer' || named === '/items' ? suggestField(heading) : named;
  });
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
    const value = sourceOf(
      field,
      entries.map(([at]) => toJsonPointer([headings[at] ?? ''])),
    );
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

const keyOf = (accountId: number, headings: readonly string[]) => JSON.stringify([accountId, ...headings]);

/** What was chosen for a table with these headings before; null if it is the first one. */
export function rememberedColumns(accountId: number, headings: readonly string[]): Columns | null {
  return readStored()[keyOf(accountId, headings)] ?? null;
}

/** Remembers the choice in this browser; of headings only, so nothing of an order is stored. */
export function rememberColumns(accountId: number, headings: readonly string[], columns: Columns): void {
  const key = keyOf(accountId, headings);
  const { [key]: _, ...others } = readStored();
  const kept = [...Object.entries(others), [key, columns] as const].slice(-MAX_STORED);
  localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(kept)));
}

function readStored(): Record<string, Columns> {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? '{}');
  } catch {
    return {};
  }
}
