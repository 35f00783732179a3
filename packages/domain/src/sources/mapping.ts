/**
 * Declarative mappings from a platform's order to an order of this service. `docs/senders/mapping.md` has the format with examples.
 */

import type { OfTextFields } from '../text-fields.ts';

/** Several values in one text. Each part is a pointer, or a list whose first present value is used; absent parts are left out. */
export interface JoinedValue {
  join: readonly (string | readonly string[])[];
  /** Default: one space. */
  separator?: string;
}

export interface ConstantValue {
  constant: string | number;
}

/** A JSON Pointer (RFC 6901), parts to join, or a constant. */
export type MappedValue = string | JoinedValue | ConstantValue;

/** Where the value of a field comes from. Of a list, the first value that is present. */
export type FieldMapping = MappedValue | readonly MappedValue[];

export interface CustomerMapping {
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

/** Pointers in `name`, `quantity`, `sku` and `omit_if_zero` start at the item. */
export interface ItemsMapping extends ItemMapping {
  /** Leads to the list of items; of several pointers, the first that leads to a list. */
  list: string | readonly string[];
  /** An item with the number 0 here is left out. Platforms keep removed items with the quantity 0. */
  omit_if_zero?: string;
}

export interface OrderMapping extends Partial<OfTextFields<FieldMapping>> {
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
}
