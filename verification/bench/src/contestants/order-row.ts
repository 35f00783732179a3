import type { IncomingOrder } from './environment.ts';
import { ACCOUNT_ID } from './plain-tables.ts';

/** The columns of an order. `items` is a JSON string, because pg converts a JavaScript array to a Postgres array. */
export interface OrderRow {
  account_id: number;
  source_order_id: string;
  receipt_id: string;
  order_number: string;
  customer_name: string | null;
  customer_phone: string | null;
  customer_email: string | null;
  customer_id: string | null;
  address: string | null;
  emirate: string | null;
  area: string | null;
  items: string;
  total: string | null;
  currency: string;
  delivery_instructions: string | null;
}

const DECIMAL = /^\d{1,15}(\.\d{1,6})?$/;

/** Never throws, and returns only values that Postgres accepts, so that an order with invalid members is written too. */
export function makeOrderRow(receiptId: string, order: IncomingOrder): OrderRow {
  const customer = membersOf(order.customer);
  const total = readText(order.total);
  return {
    account_id: ACCOUNT_ID,
    source_order_id: order.source_order_id,
    receipt_id: receiptId,
    order_number: readText(order.order_number) ?? order.source_order_id,
    customer_name: readText(customer.name),
    customer_phone: readText(customer.phone),
    customer_email: readText(customer.email),
    customer_id: readText(customer.id),
    address: readText(order.address),
    emirate: readText(order.emirate),
    area: readText(order.area),
    items: JSON.stringify(Array.isArray(order.items) ? order.items.map(readItem) : []),
    total: total !== null && DECIMAL.test(total) ? total : null,
    currency: readText(order.currency)?.toUpperCase() ?? 'AED',
    delivery_instructions: readText(order.delivery_instructions),
  };
}

function readItem(item: unknown) {
  const { name, quantity, sku } = membersOf(item);
  return { name: readText(name), quantity: Number.isSafeInteger(quantity) ? quantity : null, sku: readText(sku) };
}

function readText(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() || null : null;
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
