/**
 * Declarative mappings from a platform's order to an order of this service. `docs/senders/mapping.md` has the format with examples.
 */

import type { OfTextFields } from '../text-fields.ts';

/** Conditions by pointer: the value there is one of these, compared as text. `null` matches what is absent, `null` or blank. */
export type Conditions = Readonly<Record<string, readonly (string | number | boolean | null)[]>>;

/** The members of a mapping that have conditions. */
export const CONDITIONS: ReadonlySet<string> = new Set(['if', 'where', 'only', 'except']);

/** A value that counts only if all conditions of `if` hold, and none of `except`. */
export interface Conditional {
  if?: Conditions;
  except?: Conditions;
}

/**
 * Several values in one text. Each part is a pointer, found or constant, the entries of a list, or candidates of which the first present one is
 * used; absent parts are left out.
 */
export interface JoinedValue extends Conditional {
  join: readonly (JoinedPart | EntriesValue | readonly JoinedPart[])[];
  /** Default: one space. */
  separator?: string;
}

export interface ConstantValue extends Conditional {
  constant: string | number;
}

/** A value of the first entry of a list that meets the conditions and has one; their pointers and `value` start at the entry. */
export interface FoundValue {
  find: string;
  where: Conditions;
  value: string;
}

/** An amount in the smallest unit of its currency: 15550 with 2 digits is 155.50. `by_digits` is a number, or a pointer to one. */
export interface DividedValue {
  divide: string;
  by_digits: number | string;
}

/** A pointer, or several: the first that leads to a value counts. */
type Pointers = string | readonly string[];

/**
 * `label: value`, or `value`, of each entry of a list, such as the options of an item. Pointers, but `each`, start at the entry. Labels that begin
 * with an underscore are for programs, in WooCommerce and Shopify, and left out.
 */
export interface EntriesValue {
  each: string;
  label?: Pointers;
  value: Pointers;
  /** No entries that meet one of these. */
  except?: Conditions;
}

type JoinedPart = string | FoundValue | ConstantValue;

/** A JSON Pointer (RFC 6901), parts to join, an entry of a list, an amount in small units, or a constant. */
export type MappedValue = string | JoinedValue | FoundValue | DividedValue | ConstantValue;

/** Where the value of a field comes from. Of a list, the first value that is present. */
export type FieldMapping = MappedValue | readonly MappedValue[];

interface CustomerMapping {
  name?: FieldMapping;
  phone?: FieldMapping;
  email?: FieldMapping;
  id?: FieldMapping;
}

export interface ItemMapping {
  name?: FieldMapping;
  quantity?: FieldMapping;
  sku?: FieldMapping;
}

/** Pointers in `name`, `quantity`, `sku`, `omit_if_zero`, `only` and `except` start at the item. */
export interface ItemsMapping extends ItemMapping {
  /** Leads to the list of items; of several pointers, the first that leads to a list. */
  list: string | readonly string[];
  /** An item with the number 0 here is left out. Platforms keep removed items with the quantity 0. */
  omit_if_zero?: string;
  /** Only items that meet all of these. */
  only?: Conditions;
  /** No items that meet one of these, such as tips and gift cards. */
  except?: Conditions;
}

/** A fact that has no field: its label, and where its value comes from. */
interface OneDetail {
  label: string;
  value: FieldMapping;
}

/** A fact for each entry of a list. */
type EachDetail = EntriesValue & { label: Pointers };

export type DetailMapping = OneDetail | EachDetail;

export interface OrderMapping extends Partial<Omit<OfTextFields<FieldMapping>, 'details'>> {
  source_order_id: FieldMapping;
  order_number?: FieldMapping;
  customer?: CustomerMapping;
  address?: FieldMapping;
  emirate?: FieldMapping;
  area?: FieldMapping;
  /** A list has one mapping for each item, whose pointers start at the top: for tables with numbered columns. */
  items?: ItemsMapping | readonly ItemMapping[];
  total?: FieldMapping;
  currency?: FieldMapping;
  details?: readonly DetailMapping[];
}

/** Of a valid mapping, or a part of one: its constants, and its strings except separators, with the pointers of conditions. */
export function countRead(part: unknown): number {
  if (typeof part === 'string') return 1;
  if (typeof part !== 'object' || part === null) return 0;
  return sumOf(Object.entries(part), ([name, value]) => {
    if (name === 'separator') return 0;
    if (name === 'constant') return 1;
    return CONDITIONS.has(name) ? Object.keys(value).length : countRead(value);
  });
}

/** The same, of those that are read in each entry of a list that is searched. */
export function countSearchedFor(part: unknown): number {
  if (typeof part !== 'object' || part === null) return 0;
  if ('where' in part) return countRead({ where: part.where });
  if ('each' in part) return countRead({ ...part, each: null });
  return sumOf(Object.values(part), countSearchedFor);
}

function sumOf<Part>(parts: readonly Part[], count: (part: Part) => number): number {
  return parts.reduce((sum, part) => sum + count(part), 0);
}

/** More than any preset has. With these, a short delivery takes at most a few milliseconds. */
const [MAX_CHEAP_SEARCHED, MAX_CHEAP_ITEM_LENGTH] = [15, 500];

/** Whether a mapping reads or writes so much for each entry of a list that also a short delivery may take long: up to 0.1 s, and the largest 0.2 s. */
export function isCostly(mapping: OrderMapping): boolean {
  const known = costly.get(mapping) ?? estimate(mapping);
  costly.set(mapping, known);
  return known;
}

/** Estimated once for each mapping, not for each delivery. */
const costly = new WeakMap<OrderMapping, boolean>();

function estimate(mapping: OrderMapping): boolean {
  const { items } = mapping;
  if (countSearchedFor(mapping) > MAX_CHEAP_SEARCHED) return true;
  return items !== undefined && 'list' in items && JSON.stringify(items).length > MAX_CHEAP_ITEM_LENGTH;
}
