import { recordAudit } from '@orders/database/audit.ts';
import { type OrderRow, toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import { updateSearchTerms } from '@orders/database/orders/update-search-terms.ts';
import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import { type CustomerSearch, contactsIn, mentionsAny } from '@orders/domain/customer-search.ts';
import type { Order } from '@orders/domain/order.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { redactOrder } from '@orders/domain/redact-order.ts';
import { severityOf } from '@orders/domain/severity.ts';
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
 * Many receipts take several transactions, as each can load some MiB of bodies. The receipt that the customer was found in is in the
 * last one, so that an interrupted erasure finds the order again.
 *
 * @param by the kinds of search criteria, such as `phone`.
 */
export async function eraseOrder(
  connection: Connection,
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
  const contacts = await findContacts(connection, { accountId, sourceOrderId, receiptIds });
  const isMentioned = mentionsAny([...search.contacts, ...contacts]);
  const chunks = inChunks([...receiptIds.filter((id) => id !== foundBy), ...(foundBy ? [foundBy] : [])]);
  const last = chunks.pop() ?? [];
  let receipts = 0;
  for (const ids of chunks)
    receipts += await inTransaction(connection, (transaction) =>
      eraseReceipts(transaction, accountId, ids, isMentioned),
    );
  return inTransaction(connection, async (transaction) => {
    // Locks receipts before the order, as workers do.
    receipts += await eraseReceipts(transaction, accountId, last, isMentioned);
    const order = await eraseWritten(transaction, accountId, sourceOrderId, isMentioned);
    const subject = order ? `order:${order.order_id}` : `receipt:${receiptIds.at(-1)}`;
    if (order || receipts > 0)
      await recordAudit(transaction, { accountId, actor, action: 'order_erased', subject, details: { by, receipts } });
    return { order: order?.review_state ?? null, receipts };
  });
}

const BY_SOURCE = `
select o.* from order_keys k join orders o on o.account_id = k.account_id and o.order_id = k.order_id
where k.account_id = $1 and k.source_order_id = $2`;

const ERASE_HELD = `
update order_keys set held_reason = null
where account_id = $1 and source_order_id = $2 and order_id is null and held_reason is not null`;

/** The phone numbers and e-mail addresses in an order and its receipts; fields that stay, such as items, may contain them too. */
async function findContacts(
  connection: Connection,
  { accountId, sourceOrderId, receiptIds }: Pick<CustomerOrder, 'sourceOrderId' | 'receiptIds'> & { accountId: number },
): Promise<Set<string>> {
  const [row] = await run<StoredOrder>(connection, BY_SOURCE, [accountId, sourceOrderId]);
  const contacts = new Set(row ? contactsIn(toOrder(toJson(row))) : []);
  for await (const receipts of readReceipts(connection, accountId, receiptIds)) {
    for (const { body, source_order_id } of await withBodies(connection, accountId, receipts)) {
      if (body === null) continue;
      for (const contact of contactsIn(payloadOf({ source_order_id, body }))) contacts.add(contact);
    }
  }
  return contacts;
}

/** @returns the order as it was; null if there is none, or it contained no data of the customer. */
async function eraseWritten(
  connection: Connection,
  accountId: number,
  sourceOrderId: string,
  isMentioned: (text: string) => boolean,
): Promise<OrderRow | null> {
  const lock = async () => {
    const [row] = await run<StoredOrder>(connection, `${BY_SOURCE} for update of o`, [accountId, sourceOrderId]);
    return row;
  };
  let row = await lock();
  if (!row) {
    await execute(connection, ERASE_HELD, [accountId, sourceOrderId]);
    // The order may have been written while this waited for its key.
    row = await lock();
  }
  if (!row) return null;
  const key = [accountId, row.order_id];
  // Also for an order that was erased before: it may have been rejected since, with a reason in free text.
  const relatedRows =
    (await eraseHistory(connection, accountId, row.order_id)) +
    (await eraseChanges(connection, accountId, row.order_id));
  const order = toOrder(toJson(row));
  if (row.erased_at !== null && row.review_reason === null && isRedacted(order, isMentioned))
    return relatedRows > 0 ? row : null;
  await storeRedacted(connection, key, redactOrder(order, isMentioned));
  // Even if there are none yet: fillSearchTerms may have read the order before, and does not replace existing ones.
  await updateSearchTerms(connection, accountId, [row.order_id]);
  return row;
}

async function storeRedacted(connection: Connection, key: number[], redacted: Order): Promise<void> {
  const { customer, items, ...rest } = redacted;
  const columns = {
    ...rest,
    customer_name: customer.name,
    customer_phone: customer.phone,
    customer_email: customer.email,
    customer_id: customer.id,
    items: JSON.stringify(items),
    warnings: '[]',
    severity: severityOf(redacted, []),
    review_reason: null,
  };
  const assignments = Object.keys(columns).map((name, index) => `${name} = $${index + 3}`);
  await execute(
    connection,
    `update orders set ${assignments.join(', ')}, erased_at = clock_timestamp() where account_id = $1 and order_id = $2`,
    [...key, ...Object.values(columns)],
  );
}

/** Keeps actor, action and time; a trigger marks the events in the chain. @returns the number of changed events. */
async function eraseHistory(connection: Connection, accountId: number, orderId: number): Promise<number> {
  return execute(
    connection,
    `update audit_events
     set details = ${KEPT_DETAILS}
     where account_id = $1 and subject = $2 and (jsonb_exists(details, 'reason') or jsonb_path_exists(
       details, '$.changes[*] ? (@.before.type() != "null" || @.after.type() != "null")'))`,
    [accountId, `order:${orderId}`],
  );
}

/**
 * Removes the changes of changed deliveries and keeps their receipt ids and decisions. A worker that is about to insert changes waits for the lock on
 * the order.
 *
 * @returns the number of changed deliveries.
 */
async function eraseChanges(connection: Connection, accountId: number, orderId: number): Promise<number> {
  return execute(
    connection,
    'update changed_deliveries set changes = null where account_id = $1 and order_id = $2 and changes is not null',
    [accountId, orderId],
  );
}
