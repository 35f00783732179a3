import type { Warning } from './normalize/warnings.ts';

/** What an absent or unreadable field is stored as: null. All strings are storable in Postgres. */
export type Order = {
  source_order_id: string;
  order_number: string;
  customer: Customer;
  address: string | null;
  /** English name of one of the seven, or the text as sent when `emirate_code` is null. */
  emirate: string | null;
  /** ISO 3166-2, for example `AE-DU`. */
  emirate_code: string | null;
  area: string | null;
  items: Item[];
  /** Plain decimal text, at most 15 integer and 6 fraction digits, never negative. */
  total: string | null;
  /** ISO 4217 in upper case, or the text as sent when that could not be read. */
  currency: string;
  delivery_instructions: string | null;
};

export type Customer = {
  name: string | null;
  /** E.164, or the text as sent when it is no possible number. */
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

/** An order as it is to be written, and what had to be mended to get there. */
export type NormalizedOrder = { order: Order; warnings: Warning[] };
