import { recordAudit } from '@orders/database/audit.ts';
import { lockOrders, type OrderState, statesOf } from '@orders/database/orders/review-orders.ts';
import { updateSearchTerms } from '@orders/database/orders/update-search-terms.ts';
import type { Knex } from 'knex';

/**
 * Two seconds less than `dispatchable_orders` waits, as the undo must be visible before the order is. A statement may take half a second,
 * and the last one checks the clock again, so at least one second is left for the commit.
 */
const ALLOWED_SECONDS = 8;
const LAST_SECONDS = 9;
const STATEMENT_MS = 500;

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
  db: Knex,
  { accountId, orderIds, by }: { accountId: number; orderIds: readonly number[]; by: string },
  statementMs = STATEMENT_MS,
): Promise<UndoOutcome | null> {
  const outcome = db.transaction(async (trx) => {
    await trx.raw(`set local statement_timeout = ${statementMs}`);
    // Also limits the time until the commit if this process stops.
    await trx.raw(`set local idle_in_transaction_session_timeout = ${statementMs}`);
    const found = await lockOrders(trx, accountId, orderIds);
    if (!found) return null;
    const { rows } = await trx.raw<{ rows: { order_id: number; review_state: string; reviewed_at: Date }[] }>(
      `with before as materialized (
         select order_id, review_state, reviewed_at from orders where account_id = :accountId and order_id = any(:ids::bigint[])
       )
       update orders o
       set review_state = 'needs_review', reviewed_by = null, reviewed_at = null, review_reason = null, confirmed_xid = null
       from before
       where o.account_id = :accountId and o.order_id = any(:ids::bigint[]) and o.order_id = before.order_id
         and before.review_state in ('confirmed', 'rejected')
         and before.reviewed_at > clock_timestamp() - interval '${ALLOWED_SECONDS} seconds'
       returning o.order_id, before.review_state, before.reviewed_at`,
      { accountId, ids: found.map(({ order_id }) => order_id) },
    );
    const changed = rows.map(({ order_id }) => order_id).toSorted((a, b) => a - b);
    const unchanged = found.filter(({ order_id }) => !changed.includes(order_id));
    if (changed.length === 0) return { changed, unchanged };
    await updateSearchTerms(trx, accountId, changed);
    await recordAudit(
      trx,
      ...rows.map(({ order_id, review_state }) => ({
        accountId,
        actor: by,
        action: 'order_review_undone',
        subject: `order:${order_id}`,
        details: { was: review_state },
      })),
    );
    const oldest = new Date(Math.min(...rows.map(({ reviewed_at }) => reviewed_at.getTime())));
    const clock = await trx.raw<{ rows: { is_late: boolean }[] }>(
      `select clock_timestamp() > ?::timestamptz + interval '${LAST_SECONDS} seconds' as is_late`,
      [oldest],
    );
    if (clock.rows[0]?.is_late) throw new TooLate('the time to undo was over before it was done');
    return { changed, unchanged };
  });
  return outcome.catch(async (error) => {
    if (!(error instanceof TooLate)) throw error;
    return { changed: [], unchanged: await statesOf(db, accountId, orderIds) };
  });
}

class TooLate extends Error {
  override readonly name = 'TooLate';
}
