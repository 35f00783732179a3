import type { ReviewOutcome as Reviewed } from '@orders/database/orders/review-orders.ts';
import type { Decision } from '@orders/portal/review/find-changed-deliveries.ts';
import type { RecordedPrint as Recorded } from '@orders/portal/review/print-routes.ts';
import type {
  ListedOrder as ServerListedOrder,
  OrderDetail as ServerOrderDetail,
} from '../../../src/review/order-detail.ts';
import { call, type Json } from './client.ts';

/** An order in the list, with the numbers of its items and warnings, and whether it was sent again with other content. */
export type ListedOrder = Json<ServerListedOrder>;

/** An order with at most its first 1,000 items. */
export type Order = OrderDetail['order'];
export type Warning = Order['warnings'][number];
export type SimilarOrder = OrderDetail['similar'][number];
export type ReviewState = ListedOrder['review_state'];

/** The name of the action that puts an order of this state into review; undefined without one. */
export function reviewActionOf(state: ReviewState | undefined): 'reopen' | 'reviewNow' | undefined {
  if (state === 'awaiting_payment') return 'reviewNow';
  return state === 'rejected' || state === 'cancelled' ? 'reopen' : undefined;
}

/** The new value of an edited field; `null` empties it. */
export type FieldValue = string | number | null;

/** Keys are JSON pointers of the order's fields. `/items/-` appends an item; null as an item removes it. */
export type Edits = Record<string, FieldValue | Order['items'][number]>;

/** The values that an editor saw, by pointer. */
export type Expected = Record<string, FieldValue>;

/** An order with all that a reviewer sees. */
export type OrderDetail = Json<ServerOrderDetail>;

/** A changed delivery of an order. */
export type ChangedDelivery = OrderDetail['resends'][number];

/** The changed orders, and the states of unchanged ones: somebody else was faster, or a changed delivery holds them (`held`). */
export type ReviewOutcome = Json<Pick<Reviewed, 'changed' | 'unchanged'>>;

export function toListedOrder({ items: _items, warnings: _warnings, ...listed }: Order): ListedOrder {
  return listed;
}

/** The API's limit. */
export const MAX_ORDERS_PER_REQUEST = 1000;

async function inChunks(ids: number[], send: (chunk: number[]) => Promise<ReviewOutcome>): Promise<ReviewOutcome> {
  const total: ReviewOutcome = { changed: [], unchanged: [] };
  for (let from = 0; from < ids.length; from += MAX_ORDERS_PER_REQUEST) {
    const { changed, unchanged } = await send(ids.slice(from, from + MAX_ORDERS_PER_REQUEST));
    total.changed.push(...changed);
    total.unchanged.push(...unchanged);
  }
  return total;
}

/** Confirms, rejects (with a reason) or reopens any number of orders. @param submission the same for each retry of a decision. */
export function review(
  accountId: number,
  ids: number[],
  to: ReviewState,
  reason: string | undefined,
  submission: string,
): Promise<ReviewOutcome> {
  return inChunks(ids, (order_ids) =>
    call('POST', `/accounts/${accountId}/orders/review`, { body: { order_ids, to, reason }, submission }),
  );
}

/** Undoes a recent confirmation or rejection. */
export function undoReview(accountId: number, ids: number[], submission: string): Promise<ReviewOutcome> {
  return inChunks(ids, (order_ids) =>
    call('POST', `/accounts/${accountId}/orders/review/undo`, { body: { order_ids }, submission }),
  );
}

/** Saves edits, unless a value differs from the expected one. `undo` are the edits that restore the values before. */
export function editOrder(
  accountId: number,
  orderId: number,
  edits: Edits,
  expected: Expected,
): Promise<OrderDetail & { undo: Edits }> {
  return call('PATCH', `/accounts/${accountId}/orders/${orderId}`, { body: { edits, expected } });
}

/** A print that was recorded, and which one of the order it is. */
export type RecordedPrint = Json<Recorded>;

/** Accepts a changed delivery, or keeps the current version. */
export function decideChangedDelivery(
  accountId: number,
  orderId: number,
  { receipt_id, decision }: { receipt_id: string; decision: Decision },
): Promise<OrderDetail> {
  return call('POST', `/accounts/${accountId}/orders/${orderId}/resends/${receipt_id}`, { body: { decision } });
}

/** Whether a changed delivery is neither decided nor outdated. */
export function isOpen({ decision, is_outdated }: ChangedDelivery): boolean {
  return decision === null && !is_outdated;
}

/** Whether nobody has decided yet which version of an order counts: its own, or that of its newest changed delivery. */
export function isUndecided({ review, erased_at, resends }: OrderDetail): boolean {
  const [newest] = resends;
  return review.state === 'needs_review' && erased_at === null && newest !== undefined && isOpen(newest);
}

/** Whether an order cannot be confirmed before that decision. */
export function isHeld(detail: OrderDetail): boolean {
  return detail.hold_resends && isUndecided(detail);
}
