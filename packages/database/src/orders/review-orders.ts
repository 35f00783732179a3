import type { ReviewState } from '@orders/domain';
import type { Knex } from 'knex';
import { recordAudit } from '../audit.ts';
import { findHeld } from '../resends/find-held.ts';
import { dropWords, keepWords } from './keep-words.ts';
import { lockOrders, type OrderState } from './lock-orders.ts';

/** Who does what to which orders of one account. */
export interface ReviewRequest {
  accountId: number;
  orderIds: readonly number[];
  to: ReviewState;
  /** A user's e-mail address, or who the command line says it acts for. */
  by: string;
  /** Why an order is rejected. */
  reason?: string | null | undefined;
}

export interface ReviewOutcome {
  changed: number[];
  /** Those that were in a state that does not allow this; or `held`, which waits for a decision about what was sent again of it. */
  unchanged: (OrderState & { held?: true })[];
  /** Until when people are told that this can be taken back; null when nothing changed, or it is a reopening. */
  undoUntil: Date | null;
}

const ALLOWED_FROM: Record<ReviewState, ReviewState> = {
  confirmed: 'needs_review',
  rejected: 'needs_review',
  needs_review: 'rejected',
};

const ACTIONS: Record<ReviewState, string> = {
  confirmed: 'order_confirmed',
  rejected: 'order_rejected',
  needs_review: 'order_reopened',
};

/** How long people are told that a confirmation or rejection can be taken back, in seconds; `undo-review.ts` allows a little more. */
export const UNDO_SECONDS = 7;

/**
 * Confirms or rejects orders that need review, or reopens (`needs_review`) rejected ones, on record; all in one transaction. Orders are
 * locked in the order of their ids, so that two who share some wait for one another instead of deadlocking.
 *
 * @returns null when the account has not all of them, and nothing changed.
 */
export async function reviewOrders(db: Knex, request: ReviewRequest): Promise<ReviewOutcome | null> {
  const { accountId, orderIds, to, by, reason = null } = request;
  return db.transaction(async (trx) => {
    const found = await lockOrders(trx, accountId, orderIds);
    if (!found) return null;
    const held = to === 'confirmed' ? await findHeld(trx, accountId, orderIds) : new Set();
    const changed: number[] = [];
    const unchanged: ReviewOutcome['unchanged'] = [];
    for (const order of found) {
      if (order.review_state !== ALLOWED_FROM[to]) unchanged.push(order);
      else if (held.has(order.order_id)) unchanged.push({ ...order, held: true });
      else changed.push(order.order_id);
    }
    if (changed.length === 0) return { changed, unchanged, undoUntil: null };
    // By the clock, not by the beginning of the transaction, which may have waited for the locks: the time to undo begins here.
    const { rows } = await trx.raw<{ rows: { undo_until: Date }[] }>(
      `with reviewed as (select clock_timestamp() as at)
       update orders o
       set review_state = :to, reviewed_by = :by, reviewed_at = reviewed.at, review_reason = :reason,
           confirmed_xid = case when :to = 'confirmed' then pg_current_xact_id() end
       from reviewed
       where o.account_id = :accountId and o.order_id = any(:changed::bigint[])
       returning reviewed.at + interval '${UNDO_SECONDS} seconds' as undo_until`,
      { to, by, reason, accountId, changed },
    );
    await (to === 'needs_review' ? keepWords : dropWords)(trx, accountId, changed);
    await recordAudit(
      trx,
      ...changed.map((id) => ({
        accountId,
        actor: by,
        action: ACTIONS[to],
        subject: `order:${id}`,
        details: reason === null ? null : { reason },
      })),
    );
    return { changed, unchanged, undoUntil: to === 'needs_review' ? null : (rows[0]?.undo_until ?? null) };
  });
}
