import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { recordAudit } from '../audit.ts';
import { type Connection, execute, inTransaction, run } from '../run.ts';
import { deleteSearchTerms, updateSearchTerms } from './update-search-terms.ts';

/** The states that a reviewer can give an order. */
export const REVIEW_DECISIONS = ['needs_review', 'confirmed', 'rejected'] as const satisfies readonly ReviewState[];
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];

export interface ReviewRequest {
  accountId: number;
  orderIds: readonly number[];
  /** Only senders cancel. */
  to: ReviewDecision;
  /** A user's e-mail address, or the actor given to the CLI. */
  by: string;
  /** Why an order is rejected. */
  reason?: string | null | undefined;
}

export interface ReviewOutcome {
  changed: number[];
  /** Orders whose state does not allow this, or that are `held` until a decision about a changed delivery. */
  unchanged: (OrderState & { held?: true })[];
  /** Until when users can undo it; null when nothing changed, or for a reopening. */
  undoUntil: Date | null;
}

const ALLOWED_FROM: Record<ReviewDecision, readonly ReviewState[]> = {
  confirmed: ['needs_review'],
  rejected: ['needs_review'],
  needs_review: ['awaiting_payment', 'rejected', 'cancelled'],
};

const ACTIONS: Record<ReviewDecision, string> = {
  confirmed: 'order_confirmed',
  rejected: 'order_rejected',
  needs_review: 'order_reopened',
};

/** How long users can undo a confirmation or rejection, in seconds; `undo-review.ts` allows a little more. */
export const UNDO_SECONDS = 7;

/**
 * Confirms or rejects orders that need review, or reopens (`needs_review`) rejected and cancelled ones, with audit, in one transaction. Orders are locked
 * in id order, so that concurrent calls do not deadlock.
 *
 * @returns null when the account does not have all of them; then nothing changed.
 */
export async function reviewOrders(connection: Connection, request: ReviewRequest): Promise<ReviewOutcome | null> {
  const { accountId, orderIds, to, by, reason = null } = request;
  return inTransaction(connection, async (transaction) => {
    const found = await lockOrders(transaction, accountId, orderIds);
    if (!found) return null;
    const held = to === 'confirmed' ? await findHeld(transaction, accountId, orderIds) : new Set();
    const changed: number[] = [];
    const unchanged: ReviewOutcome['unchanged'] = [];
    for (const order of found) {
      if (!ALLOWED_FROM[to].includes(order.review_state)) unchanged.push(order);
      else if (held.has(order.order_id)) unchanged.push({ ...order, held: true });
      else changed.push(order.order_id);
    }
    if (changed.length === 0) return { changed, unchanged, undoUntil: null };
    // clock_timestamp() and not now(), as the transaction may have waited for locks and the time to undo begins here.
    const [reviewed] = await run<{ undo_until: Date }>(
      transaction,
      `with reviewed as (select clock_timestamp() as at)
       update orders o
       set review_state = $1::text, reviewed_by = $2, reviewed_at = reviewed.at, review_reason = $3
       from reviewed
       where o.account_id = $4 and o.order_id = any($5::bigint[])
       returning reviewed.at + interval '${UNDO_SECONDS} seconds' as undo_until`,
      [to, by, reason, accountId, changed],
    );
    if (to === 'confirmed')
      await execute(
        transaction,
        `insert into undispatched_orders (account_id, order_id, is_test)
         select account_id, order_id, is_test from orders where account_id = $1 and order_id = any($2::bigint[])`,
        [accountId, changed],
      );
    await (to === 'needs_review' ? updateSearchTerms : deleteSearchTerms)(transaction, accountId, changed);
    await recordAudit(
      transaction,
      ...changed.map((id) => ({
        accountId,
        actor: by,
        action: ACTIONS[to],
        subject: `order:${id}`,
        details: reason === null ? null : { reason },
      })),
    );
    return { changed, unchanged, undoUntil: to === 'needs_review' ? null : (reviewed?.undo_until ?? null) };
  });
}

/**
 * Returns the orders that cannot be confirmed yet, because the account holds orders with changed deliveries and the newest such changed delivery has
 * no decision. Must be called with the orders locked, so that no decision is made meanwhile; a concurrent changed delivery counts from its commit on.
 */
async function findHeld(connection: Connection, accountId: number, orderIds: readonly number[]): Promise<Set<number>> {
  const rows = await run<{ order_id: number }>(
    connection,
    `select wanted.order_id from unnest($2::bigint[]) as wanted(order_id)
     cross join lateral (
       select decision from changed_deliveries
       where account_id = $1::int and order_id = wanted.order_id and changes is not null and not is_outdated
       order by version_at desc, receipt_id desc limit 1
     ) as newest
     where newest.decision is null and exists (select from accounts where account_id = $1::int and hold_changed_deliveries)`,
    [accountId, orderIds],
  );
  return new Set(rows.map(({ order_id }) => order_id));
}

export interface OrderState {
  order_id: number;
  review_state: ReviewState;
}

/**
 * Locks orders in id order and returns their states.
 *
 * @returns null when the account does not have all of them.
 */
export async function lockOrders(
  connection: Connection,
  accountId: number,
  orderIds: readonly number[],
): Promise<OrderState[] | null> {
  const ids = [...new Set(orderIds)];
  const rows = await run<OrderState>(
    connection,
    `select order_id, review_state from orders
     where account_id = $1 and order_id = any($2::bigint[]) order by order_id for update`,
    [accountId, ids],
  );
  return rows.length === ids.length ? rows : null;
}

/** The states of the orders that belong to the account. */
export async function statesOf(
  connection: Connection,
  accountId: number,
  orderIds: readonly number[],
): Promise<OrderState[]> {
  return run<OrderState>(
    connection,
    `select order_id, review_state from orders
     where account_id = $1 and order_id = any($2::bigint[]) order by order_id`,
    [accountId, orderIds],
  );
}
