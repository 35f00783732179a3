import { recordAudit } from '@orders/database/audit.ts';
import { type OrderRow, toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import { updateSearchTerms } from '@orders/database/orders/update-search-terms.ts';
import { contactsIn, mentionsAny } from '@orders/domain/contacts.ts';
import type { CustomerSearch } from '@orders/domain/customer-search.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { redactOrder } from '@orders/domain/redact-order.ts';
import type { Knex } from 'knex';
import { KEPT_DETAILS } from '../audit/audit-chain.ts';
import { eraseReceipts } from './erase-receipts.ts';
import { type CustomerOrder, isRedacted, type StoredOrder } from './find-customer.ts';
import { inChunks, payloadOf, readReceipts, withBodies } from './scan-receipts.ts';

interface ErasedOrder {
  /** The order's state; null if it is not written yet, or was erased before. */
  order: ReviewState | null;
  receipts: number;
}

/**
 * Removes personal data from an order, its receipts and bodies, its search terms and its audit events, deletes its notes and the reason of
 * its cancellation request (by a trigger), and audits the erasure. Of a held cancellation, it removes the reason. The order is redacted by `redactOrder`; a receipt that is not written yet will be written in that form. Idempotent.
 *
 * Many receipts take several transactions, as `dispatchable_orders` waits for each. The receipt that the customer was found in is in the
 * last one, so that an interrupted erasure finds the order again.
 *
 * @param by the kinds of search criteria, such as `phone`.
 */
export async function eraseOrder(
  db: Knex,
  {
    accountId,
    sourceOrderId,
    receiptIds,
    foundBy,
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
  const contacts = await findContacts(db, { accountId, sourceOrderId, receiptIds });
  const isMentioned = mentionsAny([...search.contacts, ...contacts]);
  const chunks = inChunks([...receiptIds.filter((id) => id !== foundBy), ...(foundBy ? [foundBy] : [])]);
  const last = chunks.pop() ?? [];
  let receipts = 0;
  for (const ids of chunks) receipts += await db.transaction((trx) => eraseReceipts(trx, accountId, ids, isMentioned));
  return db.transaction(async (trx) => {
    // Locks receipts before the order, as workers do.
    receipts += await eraseReceipts(trx, accountId, last, isMentioned);
    const order = await eraseWritten(trx, accountId, sourceOrderId, isMentioned);
    const subject = order ? `order:${order.order_id}` : `receipt:${receiptIds.at(-1)}`;
    if (order || receipts > 0)
      await recordAudit(trx, { accountId, actor, action: 'order_erased', subject, details: { by, receipts } });
    return { order: order?.review_state ?? null, receipts };
  });
}

/** The phone numbers and e-mail addresses in an order and its receipts; fields that stay, such as items, may contain them too. */
async function findContacts(
  db: Knex,
  { accountId, sourceOrderId, receiptIds }: Pick<CustomerOrder, 'sourceOrderId' | 'receiptIds'> & { accountId: number },
): Promise<Set<string>> {
  const [row]: StoredOrder[] = await db('orders').where({ account_id: accountId, source_order_id: sourceOrderId });
  const contacts = new Set(row ? contactsIn(toOrder(toJson(row))) : []);
  for await (const receipts of readReceipts(db, accountId, receiptIds)) {
    for (const { body, source_order_id } of await withBodies(db, accountId, receipts)) {
      if (body === null) continue;
      for (const contact of contactsIn(payloadOf({ source_order_id, body }))) contacts.add(contact);
    }
  }
  return contacts;
}

/** @returns the order as it was; null if there is none, or it contained no data of the customer. */
async function eraseWritten(
  trx: Knex.Transaction,
  accountId: number,
  sourceOrderId: string,
  isMentioned: (text: string) => boolean,
): Promise<OrderRow | null> {
  // If an order replaces its held cancellation while the first statement waits for that row, only a second one sees the order.
  const row =
    (await lockBySource(trx, accountId, sourceOrderId)) ?? (await lockBySource(trx, accountId, sourceOrderId));
  if (!row) return null;
  if ((row.review_state as string) === 'cancellation_held') {
    await trx('orders').where({ account_id: accountId, order_id: row.order_id }).update({ review_reason: null });
    return null;
  }
  // Also for an order that was erased before: it may have been rejected since, with a reason in free text.
  const relatedRows =
    (await eraseHistory(trx, accountId, row.order_id)) + (await eraseChanges(trx, accountId, row.order_id));
  const order = toOrder(toJson(row));
  if (row.erased_at !== null && row.review_reason === null && isRedacted(order, isMentioned))
    return relatedRows > 0 ? row : null;
  const { customer, items, ...rest } = redactOrder(order, isMentioned);
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
  // Even if there are none yet: fillSearchTerms may have read the order before, and does not replace existing ones.
  await updateSearchTerms(trx, accountId, [row.order_id]);
  return row;
}

async function lockBySource(
  trx: Knex.Transaction,
  accountId: number,
  sourceOrderId: string,
): Promise<StoredOrder | undefined> {
  return trx<StoredOrder>('orders')
    .where({ account_id: accountId, source_order_id: sourceOrderId })
    .forUpdate()
    .first() as Promise<StoredOrder | undefined>;
}

/** Keeps actor, action and time; a trigger marks the events in the chain. @returns the number of changed events. */
async function eraseHistory(trx: Knex.Transaction, accountId: number, orderId: number): Promise<number> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `update audit_events
     set details = ${KEPT_DETAILS}
     where account_id = ? and subject = ? and (jsonb_exists(details, 'reason') or jsonb_path_exists(
       details, '$.changes[*] \\? (@.before.type() != "null" || @.after.type() != "null")'))`,
    [accountId, `order:${orderId}`],
  );
  return rowCount;
}

/**
 * Removes the changes of resends and keeps their receipt ids and decisions. A worker that is about to insert changes waits for the lock on
 * the order.
 *
 * @returns the number of changed resends.
 */
async function eraseChanges(trx: Knex.Transaction, accountId: number, orderId: number): Promise<number> {
  return trx('resends')
    .where({ account_id: accountId, order_id: orderId })
    .whereNotNull('changes')
    .update({ changes: null });
}
