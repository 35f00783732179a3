import { HAS_LONG_CHANGES } from '@orders/database/audit.ts';
import type { Database } from '@orders/database/connect.ts';
import {
  LISTED_COLUMNS,
  type ListColumns,
  type ListedRow,
  listColumns,
  type OrderJson,
  type OrderRow,
  orderRow,
  toJson,
} from '@orders/database/orders/order-rows.ts';
import { UNDO_SECONDS } from '@orders/database/orders/review-orders.ts';
import { run } from '@orders/database/run.ts';
import type { OrderChange } from '@orders/domain/edit-order.ts';
import { MAX_ITEMS } from '@orders/domain/interface-limits.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { rateWarnings } from '@orders/domain/severity.ts';

export interface OrderReview {
  state: ReviewState;
  /** Who last confirmed, rejected or reopened it; null if nobody did, or it was undone. */
  by: string | null;
  at: Date | null;
  /** Why it was rejected. */
  reason: string | null;
  /** Set while the last action can be undone. */
  undo_until: Date | null;
}

/** SQL: the items of `orders o`, cut to today's maximum. */
export const SHOWN_ITEMS = `
  case when jsonb_array_length(o.items) <= ${MAX_ITEMS} then o.items
       else jsonb_path_query_array(o.items, '$[0 to ${MAX_ITEMS - 1}]') end as items`;

const FIND = {
  name: 'find-reviewed-order',
  text: `
select ${LISTED_COLUMNS}, o.warnings, o.review_reason, o.erased_at,
       ${SHOWN_ITEMS},
       case when review_state in ('confirmed', 'rejected') and reviewed_at > clock_timestamp() - interval '${UNDO_SECONDS} seconds'
            then reviewed_at + interval '${UNDO_SECONDS} seconds' end as undo_until
from (${orderRow('$1::int', '$2::bigint')}) as o`,
};

type ReviewColumns = {
  review_reason: string | null;
  undo_until: Date | null;
  erased_at: Date | null;
};

/** An order for reviewers. Its items are cut to today's maximum; `item_count` is the number it was written with. */
export type ReviewedOrder = Omit<OrderJson, 'warnings'> & ListColumns & { warnings: ReturnType<typeof rateWarnings> };

/** An order of this account with its review; null when the account has no such order. */
export async function findReviewedOrder(
  database: Database,
  accountId: number,
  orderId: number,
): Promise<{ order: ReviewedOrder; review: OrderReview; erased_at: Date | null } | null> {
  const [row] = await run<OrderRow & ListedRow & ReviewColumns>(database, FIND, [accountId, orderId]);
  if (!row) return null;
  const { review_state: state, reviewed_by: by, reviewed_at: at, review_reason: reason, undo_until, erased_at } = row;
  const { warnings, ...json } = toJson(row);
  const order = { ...json, warnings: rateWarnings(warnings), ...listColumns(row) };
  return { order, review: { state, by, at, reason, undo_until }, erased_at };
}

export type OrderAction =
  | 'order_confirmed'
  | 'order_rejected'
  | 'order_reopened'
  | 'order_cancelled'
  | 'order_cancel_requested'
  | 'cancel_request_closed'
  | 'cancel_request_reopened'
  | 'order_review_undone'
  | 'order_edited'
  | 'order_annotated'
  | 'order_printed'
  | 'order_snoozed'
  | 'order_snooze_ended'
  | 'resend_accepted'
  | 'resend_refused'
  | 'order_erased';

/** An action on an order. */
export interface OrderEvent {
  at: Date;
  by: string;
  action: OrderAction;
  reason: string | null;
  changes: OrderChange[] | null;
  /** Set if the changes are too long to be shown. */
  changes_omitted?: true;
}

const MAX_EVENTS = 200;

/** Max total length of the changes of an order's events, in characters of JSON; changes of older events are omitted. */
const MAX_CHANGES = 524_288;

const FIND_HISTORY = {
  name: 'find-order-history',
  text: `
select at, actor as by, action, details ->> 'reason' as reason, case when fits then details -> 'changes' end as changes,
       details -> 'changes' is not null and not fits as "isTooLong"
from (
  select *, not is_long and
            sum(case when is_long then 0 else coalesce(length(details ->> 'changes'), 0) end) over (order by event_id desc)
              <= ${MAX_CHANGES} as fits
  from (
    select *, ${HAS_LONG_CHANGES} as is_long from audit_events
    where account_id = $1::int and subject = $2::text
    order by event_id desc limit ${MAX_EVENTS}
  ) as newest
) as e
order by event_id desc`,
};

/** The last 200 actions on an order of this account, newest first, without changes that are too long. */
export async function findOrderHistory(database: Database, accountId: number, orderId: number): Promise<OrderEvent[]> {
  const subject = `order:${orderId}`;
  const events = await run<OrderEvent & { isTooLong: boolean }>(database, FIND_HISTORY, [accountId, subject]);
  return events.map(({ isTooLong, changes, ...event }) => ({
    ...event,
    changes: changes?.map(changeJson) ?? null,
    ...(isTooLong && { changes_omitted: true }),
  }));
}

/** Restores the order of members, which jsonb does not keep. */
function changeJson({ pointer, before, after }: OrderChange): OrderChange {
  return { pointer, before, after };
}
