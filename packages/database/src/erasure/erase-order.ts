import { randomUUID } from 'node:crypto';
import { type CustomerSearch, normalizeOrder, type ReviewState, redactedBody, redactOrder } from '@orders/domain';
import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';
import { keepWords } from '../orders/keep-words.ts';
import { type OrderRow, toJson, toOrder } from '../orders/orders.ts';
import { type CustomerOrder, isRedacted } from './find-customer.ts';
import { lockReceipts, payloadOf, type StoredReceipt } from './walk-receipts.ts';

/** What was changed of one order. */
interface ErasedOrder {
  /** The state that the order is in; null where it is not written yet, or was erased before. */
  order: ReviewState | null;
  receipts: number;
}

/**
 * Removes the personal data from all that an account has of one order, on record, in one transaction: from its receipts and their bodies,
 * from the order, its words and the log of what people changed in it. What is left is the order as `redactOrder` says; a receipt that is
 * not written yet is written as that. Again, it changes nothing.
 *
 * @param by what the customer was looked for by, such as `phone`.
 */
export async function eraseOrder(
  db: Knex,
  {
    accountId,
    sourceOrderId,
    receiptIds,
    search,
    actor,
    by,
  }: CustomerOrder & {
    accountId: number;
    search: CustomerSearch;
    actor: string;
    by: readonly string[];
  },
): Promise<ErasedOrder> {
  return db.transaction(async (trx) => {
    // Receipts before the order, as whoever writes an order.
    const stored = await lockReceipts(trx, accountId, receiptIds);
    let receipts = 0;
    for (const receipt of stored) receipts += Number(await eraseReceipt(trx, accountId, receipt, search));
    const order = await eraseWritten(trx, accountId, sourceOrderId, search);
    const subject = order ? `order:${order.order_id}` : `receipt:${stored.at(-1)?.receipt_id}`;
    if (order || receipts > 0)
      await recordAudit(trx, { accountId, actor, action: 'order_erased', subject, details: { by, receipts } });
    return { order: order?.review_state ?? null, receipts };
  });
}

/**
 * The new body goes into a row of its own, so that a worker whose statement began before finds none rather than the old one; in the old
 * row, which holds those of other receipts too, blanks take its place.
 */
async function eraseReceipt(
  trx: Knex.Transaction,
  accountId: number,
  receipt: StoredReceipt,
  search: CustomerSearch,
): Promise<boolean> {
  const { receipt_id, source_order_id, batch_id, body_start, body_length, body, erased_at } = receipt;
  if (body === null) return false;
  const { order } = normalizeOrder(payloadOf({ source_order_id, body }));
  if (erased_at !== null && isRedacted(order, search)) return false;
  const redacted = redactedBody(redactOrder(order, search));
  const newBatchId = batchIdBeside(receipt_id);
  await trx('receipt_payloads').insert({ batch_id: newBatchId, account_id: accountId, bodies: redacted });
  // A worker that has taken it writes nothing without its lease; the promise in the outbox stays, and it is taken again.
  await trx.raw(
    `update receipts
     set batch_id = ?::uuid, body_start = 1, body_length = ?, warnings = null, erased_at = clock_timestamp(),
         lease_id = null, lease_expires_at = null
     where receipt_id = ?::uuid and account_id = ?`,
    [newBatchId, redacted.length, receipt_id, accountId],
  );
  await trx.raw(
    'update receipt_payloads set bodies = overlay(bodies placing ? from ? for ?) where batch_id = ?::uuid and account_id = ?',
    [Buffer.alloc(body_length, ' '), body_start, body_length, batch_id, accountId],
  );
  return true;
}

/** A UUIDv7 of the same millisecond, so that the body is dropped with its receipt. */
function batchIdBeside(receiptId: string): string {
  return `${receiptId.slice(0, 14)}7${randomUUID().slice(15)}`;
}

async function eraseWritten(
  trx: Knex.Transaction,
  accountId: number,
  sourceOrderId: string,
  search: CustomerSearch,
): Promise<OrderRow | null> {
  const [row]: (OrderRow & { erased_at: Date | null })[] = await trx('orders')
    .where({ account_id: accountId, source_order_id: sourceOrderId })
    .forUpdate();
  if (!row) return null;
  const order = toOrder(toJson(row));
  if (row.erased_at !== null && isRedacted(order, search)) return null;
  const { customer, items, ...rest } = redactOrder(order, search);
  await trx('orders')
    .where({ account_id: accountId, order_id: row.order_id })
    .update({
      ...rest,
      customer_name: customer.name,
      customer_phone: customer.phone,
      customer_email: customer.email,
      customer_id: customer.id,
      items: JSON.stringify(items),
      warnings: '[]',
      review_reason: null,
      erased_at: trx.raw('clock_timestamp()'),
    });
  // Also where there are none yet: fillWords, which may have read the order before, leaves those that it finds.
  await keepWords(trx, accountId, [row.order_id]);
  await trx.raw(
    `update audit_events
     set details = details - 'reason' - 'changes' || case when jsonb_exists(details, 'changes') then jsonb_build_object('changes', (
           select jsonb_agg(jsonb_build_object('pointer', change -> 'pointer', 'before', null, 'after', null))
           from jsonb_array_elements(details -> 'changes') as change)) else '{}' end
     where account_id = ? and subject = ? and action in ('order_edited', 'order_rejected')`,
    [accountId, `order:${row.order_id}`],
  );
  return row;
}
