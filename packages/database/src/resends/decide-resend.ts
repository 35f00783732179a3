import { type Difference, normalizeOrder, type OrderEdits, parseBody } from '@orders/domain';
import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';
import { lockEditable, storeEdits } from '../orders/edit-order.ts';
import type { OrderJson } from '../orders/orders.ts';
import { findReceiptRecord } from '../receipts/operate-receipts.ts';
import type { Decision } from './find-resends.ts';

/**
 * Accepts what was sent again of an order that needs review, which is edited accordingly as `editStoredOrder` does, or refuses it; on
 * record, in one transaction.
 *
 * @returns `conflict` when the order does not need review or its customer was erased, or when the resend has no changes, was decided or is
 * not the newest with changes; null when the account has no such order, or this is no resend of it.
 */
export async function decideResend(
  db: Knex,
  request: { accountId: number; orderId: number; receiptId: string; decision: Decision; by: string },
): Promise<'done' | 'conflict' | null> {
  const { accountId, orderId, receiptId, decision, by } = request;
  return db.transaction(async (trx) => {
    // First of all, as whoever edits, confirms or erases it: what they did is seen, and what comes next waits.
    const order = await lockEditable(trx, accountId, orderId);
    if (order === null) return null;
    const key = { account_id: accountId, order_id: orderId };
    const sinceThen: { receipt_id: string; changes: Difference[] | null; decision: Decision | null }[] = await trx(
      'resends',
    )
      .where(key)
      .andWhere('receipt_id', '>=', receiptId)
      .orderBy('receipt_id');
    const [resend, ...later] = sinceThen;
    if (resend?.receipt_id !== receiptId) return null;
    const { changes } = resend;
    if (order === 'conflict') return 'conflict';
    if (changes === null || resend.decision !== null || later.some((one) => one.changes)) return 'conflict';

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
 * What makes the order say what the resend changed. Where the order has more or fewer items by now, all items of the resend: a pointer into
 * them would meet another item.
 *
 * @returns null where the payload that these are in is gone.
 */
async function editsOf(
  trx: Knex.Transaction,
  order: OrderJson,
  receiptId: string,
  changes: readonly Difference[],
): Promise<OrderEdits | null> {
  // The code of an emirate follows from its name.
  const edits: OrderEdits = Object.fromEntries(
    changes.filter(({ pointer }) => pointer !== '/emirate_code').map(({ pointer, to }) => [pointer, to]),
  );
  const ofItems = Object.keys(edits).filter((pointer) => pointer.startsWith('/items/'));
  if (ofItems.length === 0) return edits;
  const body = (await findReceiptRecord(trx, receiptId, order.account_id))?.body;
  if (!body) return null;
  const { items } = normalizeOrder(parseBody(body)).order;
  if (items.length === order.items.length) return edits;
  for (const pointer of ofItems) delete edits[pointer];
  return { ...edits, '/items': items };
}
