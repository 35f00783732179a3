import type { OrderChange, ReviewState } from '@orders/domain';
import { type Database, run } from '../connect.ts';
import { type OrderJson, type OrderRow, orderRow, toJson } from './orders.ts';
import { UNDO_SECONDS } from './review-orders.ts';

/** How an order stands in its account's review. */
export interface OrderReview {
  state: ReviewState;
  /** Who last confirmed, rejected or reopened it; null while nobody did, or when that was undone. */
  by: string | null;
  at: Date | null;
  /** Why it was rejected. */
  reason: string | null;
  /** Set while what was done last can be taken back. */
  undo_until: Date | null;
}

const FIND = {
  name: 'find-reviewed-order',
  text: `
select o.*,
       case when review_state <> 'needs_review' and reviewed_at > clock_timestamp() - interval '${UNDO_SECONDS} seconds'
            then reviewed_at + interval '${UNDO_SECONDS} seconds' end as undo_until
from (${orderRow('$1::int', '$2::bigint')}) as o`,
};

type ReviewColumns = {
  reviewed_by: string | null;
  reviewed_at: Date | null;
  review_reason: string | null;
  undo_until: Date | null;
  erased_at: Date | null;
};

/** An order of this account, how its review stands, and when its customer's data was removed; null when the account has no such order. */
export async function findReviewedOrder(
  database: Database,
  accountId: number,
  orderId: number,
): Promise<{ order: OrderJson; review: OrderReview; erased_at: Date | null } | null> {
  const [row] = await run<OrderRow & ReviewColumns>(database, FIND, [accountId, orderId]);
  if (!row) return null;
  const { review_state: state, reviewed_by: by, reviewed_at: at, review_reason: reason, undo_until, erased_at } = row;
  return { order: toJson(row), review: { state, by, at, reason, undo_until }, erased_at };
}

export type OrderAction =
  | 'order_confirmed'
  | 'order_rejected'
  | 'order_reopened'
  | 'order_review_undone'
  | 'order_edited'
  | 'resend_accepted'
  | 'resend_refused'
  | 'order_erased';

/** What somebody did to an order. */
export interface OrderEvent {
  at: Date;
  by: string;
  action: OrderAction;
  reason: string | null;
  changes: OrderChange[] | null;
}

const MAX_EVENTS = 200;

const FIND_HISTORY = {
  name: 'find-order-history',
  text: `
select at, actor as by, action, details ->> 'reason' as reason, details -> 'changes' as changes
from audit_events
where account_id = $1::int and subject = $2::text
order by event_id desc limit ${MAX_EVENTS}`,
};

/** What people did to an order of this account, newest first, at most 200 of it. */
export async function findOrderHistory(database: Database, accountId: number, orderId: number): Promise<OrderEvent[]> {
  const events = await run<OrderEvent>(database, FIND_HISTORY, [accountId, `order:${orderId}`]);
  return events.map((event) => ({ ...event, changes: event.changes?.map(changeJson) ?? null }));
}

/** With its members in the order in which they are shown: jsonb has one of its own. */
function changeJson({ pointer, before, after }: OrderChange): OrderChange {
  return { pointer, before, after };
}
