import { type CustomerSearch, contactsIn, mentionsAny, type ReviewState, redactOrder } from '@orders/domain';
import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';
import { keepWords } from '../orders/keep-words.ts';
import { type OrderRow, toJson, toOrder } from '../orders/orders.ts';
import { eraseReceipts } from './erase-receipts.ts';
import { type CustomerOrder, isRedacted, type StoredOrder } from './find-customer.ts';
import { inPortions, payloadOf, readReceipts, withBodies } from './scan-receipts.ts';

/** What was changed of one order. */
interface ErasedOrder {
  /** The state that the order is in; null where it is not written yet, or was erased before. */
  order: ReviewState | null;
  receipts: number;
}

/**
 * Removes the personal data from all that an account has of one order, on record: from its receipts and their bodies, from the order, its
 * words and the log of what people did to it. What is left is the order as `redactOrder` says; a receipt that is not written yet is written
 * as that. Again, it changes nothing.
 *
 * Many receipts take several transactions, as `dispatchable_orders` waits for each. What the order was found by is in the last one, so
 * that an erasure that was cut short finds it again.
 *
 * @param by what the customer was looked for by, such as `phone`.
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
  const portions = [...inPortions([...receiptIds.filter((id) => id !== foundBy), ...(foundBy ? [foundBy] : [])])];
  const last = portions.pop() ?? [];
  let receipts = 0;
  for (const ids of portions)
    receipts += await db.transaction((trx) => eraseReceipts(trx, accountId, ids, isMentioned));
  return db.transaction(async (trx) => {
    // Receipts before the order, as whoever writes an order.
    receipts += await eraseReceipts(trx, accountId, last, isMentioned);
    const order = await eraseWritten(trx, accountId, sourceOrderId, isMentioned);
    const subject = order ? `order:${order.order_id}` : `receipt:${receiptIds.at(-1)}`;
    if (order || receipts > 0)
      await recordAudit(trx, { accountId, actor, action: 'order_erased', subject, details: { by, receipts } });
    return { order: order?.review_state ?? null, receipts };
  });
}

/** The phone numbers and e-mail addresses in an order and its receipts: the numbers and items that stay may hold them too. */
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

/** @returns the order as it was, or null where there is none or nothing of the customer was left. */
async function eraseWritten(
  trx: Knex.Transaction,
  accountId: number,
  sourceOrderId: string,
  isMentioned: (text: string) => boolean,
): Promise<OrderRow | null> {
  const [row]: StoredOrder[] = await trx('orders')
    .where({ account_id: accountId, source_order_id: sourceOrderId })
    .forUpdate();
  if (!row) return null;
  // Also of an order that was erased before: it may be rejected since, in somebody's own words.
  const around =
    (await eraseHistory(trx, accountId, row.order_id)) + (await eraseChanges(trx, accountId, row.order_id));
  const order = toOrder(toJson(row));
  if (row.erased_at !== null && row.review_reason === null && isRedacted(order, isMentioned))
    return around > 0 ? row : null;
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
  // Also where there are none yet: fillWords, which may have read the order before, leaves those that it finds.
  await keepWords(trx, accountId, [row.order_id]);
  return row;
}

/** Leaves who did what when; @returns of how many events something was removed. */
async function eraseHistory(trx: Knex.Transaction, accountId: number, orderId: number): Promise<number> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `update audit_events
     set details = details - 'reason' - 'changes' || case when jsonb_exists(details, 'changes') then jsonb_build_object('changes', (
           select jsonb_agg(jsonb_build_object('pointer', change -> 'pointer', 'before', null, 'after', null))
           from jsonb_array_elements(details -> 'changes') as change)) else '{}' end
     where account_id = ? and subject = ? and (jsonb_exists(details, 'reason') or jsonb_path_exists(
       details, '$.changes[*] \\? (@.before.type() != "null" || @.after.type() != "null")'))`,
    [accountId, `order:${orderId}`],
  );
  return rowCount;
}

/**
 * Of what was sent again the order keeps which receipts it came by, and what was decided. A worker that is about to keep changes waits for
 * the order, or has kept them.
 *
 * @returns of how many receipts something was removed.
 */
async function eraseChanges(trx: Knex.Transaction, accountId: number, orderId: number): Promise<number> {
  return trx('resends')
    .where({ account_id: accountId, order_id: orderId })
    .whereNotNull('changes')
    .update({ changes: null });
}
