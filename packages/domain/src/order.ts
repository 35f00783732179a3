import type { Warning } from './normalize/warnings.ts';
import type { OfTextFields } from './text-fields.ts';

/** Absent and unreadable fields are null. Postgres can store all strings. */
export type Order = {
  source_order_id: string;
  order_number: string;
  customer: Customer;
  address: string | null;
  /** English name of one of the seven, or as sent if `emirate_code` is null. */
  emirate: string | null;
  /** ISO 3166-2, for example `AE-DU`. */
  emirate_code: string | null;
  area: string | null;
  items: Item[];
  /** Plain decimal string, at most 15 integer and 6 fraction digits, never negative. */
  total: string | null;
  /** ISO 4217 in upper case, or as sent if it could not be read. */
  currency: string;
} & OfTextFields<string | null>;

export type Customer = {
  name: string | null;
  /** E.164, or as sent if it is not a possible number. */
  phone: string | null;
  email: string | null;
  id: string | null;
};

export type Item = {
  name: string | null;
  /** A positive safe integer. */
  quantity: number | null;
  sku: string | null;
};

/** The order to store, and the corrections that were made. */
export type NormalizedOrder = { order: Order; warnings: Warning[] };
