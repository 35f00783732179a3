import type { NormalizedOrder } from '@orders/domain';
import { type Database, run } from '../connect.ts';
import { among } from '../receipts/among.ts';

/** A claimed receipt with what its payload was normalized to. */
export interface WritableOrder extends NormalizedOrder {
  receiptId: string;
  accountId: number;
}

/** How a receipt ended. */
export interface Written {
  receiptId: string;
  state: 'written' | 'duplicate';
  orderId: number | null;
}

const WRITE = {
  name: 'write-orders',
  // Orders are inserted in key order, so that two workers with the same keys wait for one another instead of deadlocking, and within a
  // key in the order of receipt, so that the first received wins.
  text: `
with input as materialized (
  select * from unnest($4::uuid[], $5::int[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
                       $13::text[], $14::text[], $15::text[], $16::numeric[], $17::text[], $18::text[], $19::text[])
    as i(receipt_id, account_id, order_number, customer_name, customer_phone, customer_email, customer_id, address, emirate,
         emirate_code, area, items, total, currency, delivery_instructions, warnings)
), held as materialized (
  select r.receipt_id, r.account_id, r.channel, r.source_order_id, r.received_at from receipts r
  where ${among('r.receipt_id', '$4')} and r.lease_id = $1::uuid and r.state = 'normalized'
  for update
), created as (
  insert into orders (account_id, source_order_id, order_number, channel, receipt_id, customer_name, customer_phone, customer_email,
                      customer_id, address, emirate, emirate_code, area, items, total, currency, delivery_instructions, warnings, received_at)
  select h.account_id, h.source_order_id, i.order_number, h.channel, h.receipt_id, i.customer_name, i.customer_phone, i.customer_email,
         i.customer_id, i.address, i.emirate, i.emirate_code, i.area, i.items::jsonb, i.total, i.currency, i.delivery_instructions,
         i.warnings::jsonb, h.received_at
  from held h join input i on i.receipt_id = h.receipt_id and i.account_id = h.account_id
  order by h.account_id, h.source_order_id, h.received_at, h.receipt_id
  on conflict (account_id, source_order_id) do nothing
  returning receipt_id, order_id
), moved as (
  update receipts r
  set state = case when c.order_id is null then 'duplicate' else 'written' end, order_id = c.order_id, attempts = r.attempts + 1,
      warnings = case when i.warnings <> '[]' then i.warnings::jsonb end, error_code = null, updated_at = now(),
      lease_id = null, lease_expires_at = null
  from held h
  join input i on i.receipt_id = h.receipt_id
  left join created c on c.receipt_id = h.receipt_id
  where ${among('r.receipt_id', '$4')} and r.receipt_id = h.receipt_id and r.account_id = h.account_id
  returning r.receipt_id, r.state, r.order_id
), settled as (
  delete from outbox o
  using unnest($2::uuid[], $3::int[]) as batch(batch_id, receipts)
  where o.batch_id = any($2::uuid[]) and o.batch_id = batch.batch_id and cardinality(o.receipt_ids) = batch.receipts
    and (select count(*) from moved) = $20::int
)
select receipt_id as "receiptId", state, order_id as "orderId" from moved`,
};

/**
 * Writes orders and moves their receipts to `written`, or to `duplicate` where the account has an order of that `source_order_id`: one
 * transaction, all or nothing. A receipt whose lease is no longer ours is left alone and not returned. If all receipts of all `batches` are
 * moved, their promises in the outbox go in the same transaction.
 *
 * @throws {pg.DatabaseError} and nothing is written.
 */
export async function writeOrders(
  database: Database,
  leaseId: string,
  batches: readonly { batchId: string; receiptIds: readonly string[] }[],
  written: readonly WritableOrder[],
): Promise<Written[]> {
  const orders = written.toSorted((a, b) => (a.receiptId < b.receiptId ? -1 : 1));
  return run<Written>(database, WRITE, [
    leaseId,
    batches.map(({ batchId }) => batchId),
    batches.map(({ receiptIds }) => receiptIds.length),
    orders.map(({ receiptId }) => receiptId),
    orders.map(({ accountId }) => accountId),
    orders.map(({ order }) => order.order_number),
    orders.map(({ order }) => order.customer.name),
    orders.map(({ order }) => order.customer.phone),
    orders.map(({ order }) => order.customer.email),
    orders.map(({ order }) => order.customer.id),
    orders.map(({ order }) => order.address),
    orders.map(({ order }) => order.emirate),
    orders.map(({ order }) => order.emirate_code),
    orders.map(({ order }) => order.area),
    orders.map(({ order }) => JSON.stringify(order.items)),
    orders.map(({ order }) => order.total),
    orders.map(({ order }) => order.currency),
    orders.map(({ order }) => order.delivery_instructions),
    orders.map(({ warnings }) => JSON.stringify(warnings)),
    new Set(batches.flatMap(({ receiptIds }) => receiptIds)).size,
  ]);
}
