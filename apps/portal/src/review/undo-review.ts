import { recordAudit } from '@orders/database/audit.ts';
import type { Database } from '@orders/database/connect.ts';
import { lockOrders, type OrderState, statesOf } from '@orders/database/orders/review-orders.ts';
import { updateSearchTerms } from '@orders/database/orders/update-search-terms.ts';
import { type Connection, inTransaction, run } from '@orders/database/run.ts';

/**
 * Two seconds less than `dispatchable_orders` waits, as the undo must be visible before the order is. A statement may take half a second,
 * and the last one checks the clock again, so at least one second is left for the commit.
 */
const ALLOWED_SECONDS = 8;
const LAST_SECONDS = 9;
const STATEMENT_MS = 500;

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
 * Undoes recent confirmations and rejections, with audit; never one that a dispatcher could have seen.
 *
 * @param statementMs max milliseconds of a statement and of a pause between two.
 * @returns null when the account does not have all of these orders; then nothing changed.
 */
export async function undoReview(
  database: Database,
  request: UndoRequest,
  statementMs = STATEMENT_MS,
): Promise<UndoOutcome | null> {
  // The second also limits the time until the commit if this process stops.
  const settings = { statement_timeout: statementMs, idle_in_transaction_session_timeout: statementMs };
  try {
    return await inTransaction(database, (transaction) => undo(transaction, request), settings);
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
    return { changed: [], unchanged: await statesOf(database, request.accountId, request.orderIds) };
  }
}

async function undo(connection: Connection, { accountId, orderIds, by }: UndoRequest): Promise<UndoOutcome | null> {
  const found = await lockOrders(connection, accountId, orderIds);
  if (!found) return null;
  const undone = await run<{ order_id: number; review_state: string; reviewed_at: Date }>(
    connection,
    `with before as materialized (
       select order_id, review_state, reviewed_at from orders where account_id = $1 and order_id = any($2::bigint[])
     )
     update orders o
     set review_state = 'needs_review', reviewed_by = null, reviewed_at = null, review_reason = null, confirmed_xid = null
     from before
     where o.account_id = $1 and o.order_id = any($2::bigint[]) and o.order_id = before.order_id
       and before.review_state in ('confirmed', 'rejected')
       and before.reviewed_at > clock_timestamp() - interval '${ALLOWED_SECONDS} seconds'
     returning o.order_id, before.review_state, before.reviewed_at`,
    [accountId, found.map(({ order_id }) => order_id)],
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
  const oldest = new Date(Math.min(...undone.map(({ reviewed_at }) => reviewed_at.getTime())));
  const [clock] = await run<{ is_late: boolean }>(
    connection,
    `select clock_timestamp() > $1::timestamptz + interval '${LAST_SECONDS} seconds' as is_late`,
    [oldest],
  );
  if (clock?.is_late) throw new TooLate('the time to undo was over before it was done');
  return { changed, unchanged };
}

class TooLate extends Error {
  override readonly name = 'TooLate';
}
