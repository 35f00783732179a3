import { recordAudit } from '@orders/database/audit.ts';
import type { Database } from '@orders/database/connect.ts';
import { lockOrders, type OrderState } from '@orders/database/orders/review-orders.ts';
import { updateSearchTerms } from '@orders/database/orders/update-search-terms.ts';
import { type Connection, inTransaction, run } from '@orders/database/run.ts';

/** A little more than the portal shows (`UNDO_SECONDS`), as the request is on its way meanwhile. */
const ALLOWED_SECONDS = 8;

interface UndoRequest {
  accountId: number;
  orderIds: readonly number[];
  by: string;
}

export interface UndoOutcome {
  changed: number[];
  /** Orders that were not confirmed or rejected, or too long ago. */
  unchanged: OrderState[];
}

/**
 * Undoes recent confirmations and rejections, with audit; never one that dispatching could have seen: what it has not seen is a test
 * or has a row in `undispatched_orders`, which is deleted.
 *
 * @returns null when the account does not have all of these orders; then nothing changed.
 */
export async function undoReview(
  database: Database,
  { accountId, orderIds, by }: UndoRequest,
): Promise<UndoOutcome | null> {
  return inTransaction(database, async (transaction) => {
    const found = await lockOrders(transaction, accountId, orderIds);
    return found && undo(transaction, { accountId, found, by, allowed: `${ALLOWED_SECONDS} seconds` });
  });
}

/**
 * The same with orders that are locked.
 *
 * @param request.allowed how long ago at most they were decided, as an interval; null for any time.
 */
export async function undo(
  connection: Connection,
  request: { accountId: number; found: readonly OrderState[]; by: string; allowed: string | null },
): Promise<UndoOutcome> {
  const { accountId, found, by, allowed } = request;
  const undone = await run<{ order_id: number; review_state: string }>(
    connection,
    `with before as materialized (
       select order_id, review_state, is_test from orders
       where account_id = $1 and order_id = any($2::bigint[]) and review_state in ('confirmed', 'rejected')
         and ($3::interval is null or reviewed_at > clock_timestamp() - $3::interval)
     ), unseen as (
       delete from undispatched_orders u using before where u.account_id = $1 and u.order_id = before.order_id returning u.order_id
     )
     update orders o
     set review_state = 'needs_review', reviewed_by = null, reviewed_at = null, review_reason = null
     from before
     where o.account_id = $1 and o.order_id = any($2::bigint[]) and o.order_id = before.order_id
       and (before.review_state = 'rejected' or before.is_test or before.order_id in (select order_id from unseen))
     returning o.order_id, before.review_state`,
    [accountId, found.map(({ order_id }) => order_id), allowed],
  );
  const changed = undone.map(({ order_id }) => order_id).toSorted((a, b) => a - b);
  const unchanged = found.filter(({ order_id }) => !changed.includes(order_id));
  if (changed.length === 0) return { changed, unchanged };
  await updateSearchTerms(connection, accountId, changed);
  await recordAudit(
    connection,
    ...undone.map(({ order_id, review_state }) => ({
      accountId,
      actor: by,
      action: 'order_review_undone',
      subject: `order:${order_id}`,
      details: { was: review_state },
    })),
  );
  return { changed, unchanged };
}
