import { withClient } from '@orders/test-services/databases.ts';

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
