import { recordAudit } from '@orders/database/audit.ts';
import type { OrderJson } from '@orders/database/orders/order-rows.ts';
import { findReceiptRecord } from '@orders/database/receipts/receipt-records.ts';
import type { OrderEdits } from '@orders/domain/apply-edits.ts';
import { type Difference, ORDERED_AGAIN } from '@orders/domain/compare-orders.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import type { Order } from '@orders/domain/order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import type { Knex } from 'knex';
import { lockEditable, storeEdits } from './edit-order.ts';
import type { Decision } from './find-resends.ts';
import { isOfItem, replaceAllItems } from './replace-all-items.ts';

/**
 * Accepts or refuses a resend of an order that needs review, with audit, in one transaction. Accepting edits the order as `editStoredOrder`
 * does.
 *
 * @returns `conflict` when the order does not need review or its customer was erased, or when the resend has no changes, has a decision or is
 * not the newest with changes; null when the account has no such order, or the receipt is no resend of it.
 */
export async function decideResend(
  db: Knex,
  request: { accountId: number; orderId: number; receiptId: string; decision: Decision; by: string },
): Promise<'done' | 'conflict' | null> {
  const { accountId, orderId, receiptId, decision, by } = request;
  return db.transaction(async (trx) => {
    // Locked first, as by edits, reviews and erasures, so that these are serialized.
    const order = await lockEditable(trx, accountId, orderId);
    if (order === null) return null;
    const key = { account_id: accountId, order_id: orderId };
    const resend: { changes: Difference[] | null; decision: Decision | null } | undefined = await trx('resends')
      .where({ ...key, receipt_id: receiptId })
      .first('changes', 'decision');
    if (!resend) return null;
    const { changes } = resend;
    if (order === 'conflict' || changes === null || resend.decision !== null) return 'conflict';
    const newer = await trx('resends')
      .where(key)
      .andWhereRaw(
        '(received_at, receipt_id) > (select received_at, receipt_id from resends where account_id = ? and order_id = ? and receipt_id = ?)',
        [accountId, orderId, receiptId],
      )
      .whereNotNull('changes')
      .first(trx.raw('1'));
    if (newer) return 'conflict';

    const details: Record<string, unknown> = { receipt_id: receiptId };
    if (decision === 'accepted') {
      const edits = await editsOf(trx, order, receiptId, changes);
      if (!edits) return 'conflict';
      details.changes = await storeEdits(trx, order, edits);
    }
    await trx('resends')
      .where({ ...key, receipt_id: receiptId })
      .update({ decision, decided_by: by, decided_at: trx.raw('clock_timestamp()') });
    await recordAudit(trx, {
      accountId,
      actor: by,
      action: `resend_${decision}`,
      subject: `order:${orderId}`,
      details,
    });
    return 'done';
  });
}

/**
 * The edits that apply the changes of a resend to the order.
 *
 * @returns null when they need the payload and it no longer exists.
 */
async function editsOf(
  trx: Knex.Transaction,
  order: OrderJson,
  receiptId: string,
  changes: readonly Difference[],
): Promise<OrderEdits | null> {
  // The emirate's code follows from its name, and that the order is wanted again is no field of it.
  const edits: OrderEdits = Object.fromEntries(
    changes
      .filter(({ pointer }) => pointer !== '/emirate_code' && pointer !== ORDERED_AGAIN.pointer)
      .map(({ pointer, to }) => [pointer, to]),
  );
  const ofItems = changes.filter(isOfItem);
  const cutChanges = changes.filter((change) => change.cut);
  if (ofItems.length + cutChanges.length === 0) return edits;
  const body = (await findReceiptRecord(trx, receiptId, order.account_id))?.body;
  if (!body) return null;
  const resend = normalizeOrder(parseBody(body)).order;
  for (const { pointer } of cutChanges) edits[pointer] = valueAt(resend, pointer);
  const allItems = replaceAllItems(order.items, resend.items, ofItems);
  if (!allItems) return edits;
  for (const { pointer } of ofItems) delete edits[pointer];
  return { ...edits, [allItems.pointer]: allItems.to };
}

function valueAt(order: Order, pointer: string): unknown {
  const [, field = '', member] = pointer.split('/');
  const value = order[field as keyof Order];
  return member ? (value as Record<string, unknown>)[member] : value;
}
