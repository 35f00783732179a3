import { recordAudit } from '@orders/database/audit.ts';
import type { Database } from '@orders/database/connect.ts';
import { lockOrders } from '@orders/database/orders/review-orders.ts';
import { inTransaction, run } from '@orders/database/run.ts';
import { undo } from './undo-review.ts';

export interface Recall {
  accountId: number;
  orderId: number;
  /** The e-mail address of the reviewer. */
  by: string;
  reason: string;
}

/**
 * Takes back a confirmation for which it is too late to undo it, with audit. An order that dispatching cannot have seen needs review again. For
 * any other the dispatching system is asked to stop it, with a cancellation request like that of its sender.
 *
 * @returns null without such an order; `conflict` if it is not confirmed, is erased, or has a cancellation request.
 */
export async function recallOrder(database: Database, recall: Recall): Promise<'recalled' | 'conflict' | null> {
  const { accountId, orderId, by, reason } = recall;
  return inTransaction(database, async (transaction) => {
    const found = await lockOrders(transaction, accountId, [orderId]);
    if (!found) return null;
    if (found[0]?.review_state !== 'confirmed') return 'conflict';
    const { changed } = await undo(transaction, { accountId, found, by, allowed: null });
    if (changed.length > 0) return 'recalled';
    const requested = await run(
      transaction,
      `insert into cancellation_requests (account_id, order_id, requested_by, reason)
       select account_id, order_id, $3::text, $4::text from orders
       where account_id = $1::int and order_id = $2::bigint and erased_at is null
       on conflict do nothing returning order_id`,
      [accountId, orderId, by, reason],
    );
    if (requested.length === 0) return 'conflict';
    await recordAudit(transaction, {
      accountId,
      actor: by,
      action: 'order_cancel_requested',
      subject: `order:${orderId}`,
      details: { reason },
    });
    return 'recalled';
  });
}
