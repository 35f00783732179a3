import { withClient } from '@orders/test-services/databases.ts';
import type { IncomingOrder } from './environment.ts';

/** The account of every order, because these services have no keys. */
export const ACCOUNT_ID = 1;

const TABLES = `
  create table receipts (
    id uuid primary key,
    account_id integer not null,
    source_order_id text not null,
    state text not null,
    payload jsonb not null,
    order_id bigint,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );
  create index receipts_state on receipts (state);
  create table orders (
    id bigint generated always as identity primary key,
    account_id integer not null,
    source_order_id text not null,
    receipt_id uuid not null,
    order_number text not null,
    customer_name text,
    customer_phone text,
    customer_email text,
    customer_id text,
    address text,
    emirate text,
    area text,
    items jsonb not null,
    total numeric,
    currency text not null,
    delivery_instructions text,
    created_at timestamptz not null default now(),
    unique (account_id, source_order_id)
  );
`;

/** Creates the tables of every storing contestant in an empty database. */
export async function makePlainTables(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) => client.query(TABLES));
}

const DECIMAL = /^\d{1,15}(\.\d{1,6})?$/;

export type OrderRow = ReturnType<typeof makeOrderRow>;

/** The columns of an order. `items` is a JSON string, because pg converts a JavaScript array to a Postgres array. */
export function makeOrderRow(receiptId: string, order: IncomingOrder) {
  const { name, phone, email, id } = order.customer ?? {};
  const total = readText(order.total);
  return {
    account_id: ACCOUNT_ID,
    source_order_id: order.source_order_id,
    receipt_id: receiptId,
    order_number: readText(order.order_number) ?? order.source_order_id,
    customer_name: readText(name),
    customer_phone: readText(phone),
    customer_email: readText(email),
    customer_id: readText(id),
    address: readText(order.address),
    emirate: readText(order.emirate),
    area: readText(order.area),
    items: JSON.stringify(order.items.map(({ name, quantity, sku }) => ({ name: readText(name), quantity, sku }))),
    total: total !== null && DECIMAL.test(total) ? total : null,
    currency: readText(order.currency)?.toUpperCase() ?? 'AED',
    delivery_instructions: readText(order.delivery_instructions),
  };
}

const readText = (value: unknown): string | null => (typeof value === 'string' && value.trim()) || null;
