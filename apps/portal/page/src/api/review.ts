import type { Decision, OrderEvent, ReviewOutcome as Reviewed } from '@orders/database';
import type { ListedOrder as Listed, ShownOrder } from '../../../src/review/show-order.ts';
import { call } from './client.ts';
import type { Json } from './types.ts';

/** An order of the list: the numbers of its items and warnings, and its mark: whether it was sent again with other content. */
export type ListedOrder = Json<Listed>;

/** An order in full, but for items behind the 1,000th. */
export type Order = OrderDetail['order'];
export type Warning = Order['warnings'][number];
export type ReviewState = ListedOrder['review_state'];

/** What an edit may set a field to; `null` empties it. */
export type FieldValue = string | number | null;

/** Keys are JSON pointers of the order's fields. */
export type Edits = Record<string, FieldValue>;

export type HistoryEntry = Json<OrderEvent>;

/** One order with all that a reviewer needs to know of it. */
export type OrderDetail = Json<ShownOrder>;

/** What was sent again of an order with other content. */
export type Resend = OrderDetail['resends'][number];

/** Which of the orders were changed, and where those stand that were not: somebody else was faster, or they are `held` by a resend. */
export type ReviewOutcome = Json<Pick<Reviewed, 'changed' | 'unchanged'>>;

/** The part of an order that the list has. */
export function listedOf({ items: _items, warnings: _warnings, ...listed }: Order): ListedOrder {
  return listed;
}

/** The interface takes this many orders at once. */
export const MAX_ORDERS_PER_REQUEST = 1000;

async function chunkBySize(ids: number[], ask: (part: number[]) => Promise<ReviewOutcome>): Promise<ReviewOutcome> {
  const whole: ReviewOutcome = { changed: [], unchanged: [] };
  for (let from = 0; from < ids.length; from += MAX_ORDERS_PER_REQUEST) {
    const { changed, unchanged } = await ask(ids.slice(from, from + MAX_ORDERS_PER_REQUEST));
    whole.changed.push(...changed);
    whole.unchanged.push(...unchanged);
  }
  return whole;
}

/** Confirms, rejects (with a reason) or reopens orders, any number of them. */
export function review(
  accountId: number,
  ids: number[],
  to: ReviewState,
  reason: string | undefined,
): Promise<ReviewOutcome> {
  return chunkBySize(ids, (order_ids) =>
    call('POST', `/accounts/${accountId}/orders/review`, { body: { order_ids, to, reason } }),
  );
}

/** Takes back what was confirmed or rejected a moment ago. */
export function undoReview(accountId: number, ids: number[]): Promise<ReviewOutcome> {
  return chunkBySize(ids, (order_ids) =>
    call('POST', `/accounts/${accountId}/orders/review/undo`, { body: { order_ids } }),
  );
}

/** Accepts or refuses what was sent again of an order. */
export function decide(
  accountId: number,
  orderId: number,
  { receipt_id, decision }: { receipt_id: string; decision: Decision },
): Promise<OrderDetail> {
  return call('POST', `/accounts/${accountId}/orders/${orderId}/resends/${receipt_id}`, { body: { decision } });
}

/** Whether an order waits for a decision about what was sent again of it, and cannot be confirmed before. */
export function isHeld({ review, erased_at, resends, hold_resends }: OrderDetail): boolean {
  const isOpen = review.state === 'needs_review' && erased_at === null;
  return isOpen && hold_resends && resends[0]?.decision === null;
}
