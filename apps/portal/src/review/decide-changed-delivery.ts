import { recordAudit } from '@orders/database/audit.ts';
import type { OrderJson } from '@orders/database/orders/order-rows.ts';
import { findReceiptRecord } from '@orders/database/receipts/receipt-records.ts';
import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import type { OrderEdits } from '@orders/domain/apply-edits.ts';
import { type Difference, FINISHED, ORDERED_AGAIN } from '@orders/domain/compare-orders.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import type { Order } from '@orders/domain/order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import { lockEditable, storeEdits } from './edit-order.ts';
import type { Decision } from './find-changed-deliveries.ts';
import { isOfItem, replaceAllItems } from './replace-all-items.ts';

/**
 * Accepts or rejects a changed delivery of an order that needs review, with audit, in one transaction. Accepting edits the order as `editStoredOrder`
 * does.
 *
 * @returns `conflict` when the order does not need review or its customer was erased, or when the changed delivery has no changes, has a decision, is
 * outdated or not the newest with changes; null when the account has no such order, or the receipt is no changed delivery of it.
 */
export async function decideChangedDelivery(
  connection: Connection,
  request: { accountId: number; orderId: number; receiptId: string; decision: Decision; by: string },
): Promise<'done' | 'conflict' | null> {
  const { accountId, orderId, receiptId, decision, by } = request;
  return inTransaction(connection, async (transaction) => {
    // Locked first, as by edits, reviews and erasures, so that these are serialized.
    const order = await lockEditable(transaction, accountId, orderId);
    if (order === null) return null;
    const key = [accountId, orderId, receiptId];
    const [delivery] = await run<{ changes: Difference[] | null; is_outdated: boolean; decision: Decision | null }>(
      transaction,
      'select changes, is_outdated, decision from changed_deliveries where account_id = $1 and order_id = $2 and receipt_id = $3',
      key,
    );
    if (!delivery) return null;
    const { changes } = delivery;
    if (order === 'conflict' || changes === null || delivery.is_outdated || delivery.decision !== null)
      return 'conflict';
    const [newer] = await run(
      transaction,
      `select from changed_deliveries
       where account_id = $1 and order_id = $2 and changes is not null and (version_at, receipt_id) > (
         select version_at, receipt_id from changed_deliveries where account_id = $1 and order_id = $2 and receipt_id = $3
       ) limit 1`,
      key,
    );
    if (newer) return 'conflict';

    const details: Record<string, unknown> = { receipt_id: receiptId };
    if (decision === 'accepted') {
      const edits = await editsOf(transaction, order, receiptId, changes);
      if (!edits) return 'conflict';
      details.changes = await storeEdits(transaction, order, edits);
    }
    await execute(
      transaction,
      `update changed_deliveries set decision = $4, decided_by = $5, decided_at = clock_timestamp()
       where account_id = $1 and order_id = $2 and receipt_id = $3`,
      [...key, decision, by],
    );
    await recordAudit(transaction, {
      accountId,
      actor: by,
      action: `resend_${decision}`,
      subject: `order:${orderId}`,
      details,
    });
    return 'done';
  });
}

const NO_EDITS: ReadonlySet<string> = new Set(['/emirate_code', ORDERED_AGAIN.pointer, FINISHED.pointer]);

/**
 * The edits that apply the changes of a changed delivery to the order.
 *
 * @returns null when they need the payload and it no longer exists.
 */
async function editsOf(
  connection: Connection,
  order: OrderJson,
  receiptId: string,
  changes: readonly Difference[],
): Promise<OrderEdits | null> {
  // The emirate's code follows from its name. That the order is ordered again, or finished, is no field of it.
  const edits: OrderEdits = Object.fromEntries(
    changes.filter(({ pointer }) => !NO_EDITS.has(pointer)).map(({ pointer, to }) => [pointer, to]),
  );
  const ofItems = changes.filter(isOfItem);
  const cutChanges = changes.filter((change) => change.cut);
  if (ofItems.length + cutChanges.length === 0) return edits;
  const body = (await findReceiptRecord(connection, receiptId, order.account_id))?.body;
  if (!body) return null;
  const delivery = normalizeOrder(parseBody(body)).order;
  for (const { pointer } of cutChanges) edits[pointer] = valueAt(delivery, pointer);
  const allItems = replaceAllItems(order.items, delivery.items, ofItems);
  if (!allItems) return edits;
  for (const { pointer } of ofItems) delete edits[pointer];
  return { ...edits, [allItems.pointer]: allItems.to };
}

function valueAt(order: Order, pointer: string): unknown {
  const [, field = '', member] = pointer.split('/');
  const value = order[field as keyof Order];
  return member ? (value as Record<string, unknown>)[member] : value;
}
