import type { OrderEvent, OrderJson, UndoOutcome } from '@orders/database';
import type { ShownOrder } from '../../../src/review/show-order.ts';
import { call } from './client.ts';
import type { Json } from './types.ts';

export type Order = Json<OrderJson>;
export type Warning = Order['warnings'][number];
export type ReviewState = Order['review_state'];

/** What an edit may set a field to; `null` empties it. */
export type FieldValue = string | number | null;

/** Keys are JSON pointers of the order's fields. */
export type Edits = Record<string, FieldValue>;

export type HistoryEntry = Json<OrderEvent>;

/** One order with all that a reviewer needs to know of it. */
export type OrderDetail = Json<ShownOrder>;

/** Which of the orders were changed, and where those stand that were not: somebody else was faster. */
export type ReviewOutcome = Json<UndoOutcome>;

/** The interface takes this many orders at once. */
export const MOST_AT_ONCE = 1000;

async function inParts(ids: number[], ask: (part: number[]) => Promise<ReviewOutcome>): Promise<ReviewOutcome> {
  const whole: ReviewOutcome = { changed: [], unchanged: [] };
  for (let from = 0; from < ids.length; from += MOST_AT_ONCE) {
    const { changed, unchanged } = await ask(ids.slice(from, from + MOST_AT_ONCE));
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
  return inParts(ids, (order_ids) =>
    call('POST', `/accounts/${accountId}/orders/review`, { body: { order_ids, to, reason } }),
  );
}

/** Takes back what was confirmed or rejected a moment ago. */
export function undoReview(accountId: number, ids: number[]): Promise<ReviewOutcome> {
  return inParts(ids, (order_ids) =>
    call('POST', `/accounts/${accountId}/orders/review/undo`, { body: { order_ids } }),
  );
}
