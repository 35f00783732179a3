import type { Knex } from 'knex';

const TABLES = ['receipts', 'receipt_payloads', 'idempotency_keys', 'outbox', 'orders'];

/** The number of rows in all tables that an order is written to. */
export async function countStored(knex: Knex): Promise<number> {
  const counts = TABLES.map((table) => `(select count(*) from ${table})`);
  const { rows } = await knex.raw(`select ${counts.join(' + ')} as stored`);
  return Number(rows[0].stored);
}
