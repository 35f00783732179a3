import type { Database } from '@orders/database/connect.ts';
import type { ListedOrder } from '@orders/database/orders/order-rows.ts';
import { REVIEW_STATES, type ReviewState } from '@orders/domain/receipt-states.ts';
import { listReview } from './list-review.ts';
import type { ReviewFilter } from './review-filter.ts';

/** What a search finds in one review state. */
export interface FoundInState {
  state: ReviewState;
  /** The newest matches, at most as many as asked for. */
  orders: ListedOrder[];
  count: number;
  /** Whether there may be more: a page of the list looks at a bounded part of it. */
  is_more: boolean;
}

/** More than anybody counts; then the list is the better place. */
const MAX_COUNTED = 99;

/**
 * Searches all review states, each as far as one page of its list does.
 *
 * @param limit max orders of each state.
 */
export async function searchOrders(
  database: Database,
  filter: Omit<ReviewFilter, 'state'>,
  limit: number,
): Promise<FoundInState[]> {
  const found: FoundInState[] = [];
  // One after the other, so that a search takes one connection.
  for (const state of REVIEW_STATES) {
    const { orders, next } = await listReview(database, { ...filter, state }, { limit: MAX_COUNTED });
    found.push({ state, orders: orders.slice(0, limit), count: orders.length, is_more: next !== null });
  }
  return found;
}
