import type { Database } from '@orders/database/connect.ts';
import type { ListedOrder } from '@orders/database/orders/order-rows.ts';
import { run } from '@orders/database/run.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import { isReachable } from '@orders/domain/severity.ts';

interface EarlierOrder {
  order_id: number;
  order_number: string;
  total: string | null;
  currency: string;
  review_state: ReviewState;
  /** Why it was rejected or cancelled. */
  reason: string | null;
  received_at: Date;
}

/** The orders of the same phone number before one, without those that need review. */
export interface EarlierOrders {
  /** At most 20. */
  count: number;
  /** Whether there are more than these 20. */
  is_more: boolean;
  /** How many of them were rejected. */
  rejected: number;
  /** The newest five, newest first. */
  newest: EarlierOrder[];
}

const MAX_COUNTED = 20;
const MAX_SHOWN = 5;

// The condition on the state is that of the index `orders_by_phone`.
const FIND = {
  name: 'find-earlier-orders',
  text: `
select order_id, order_number, total, currency, review_state, review_reason as reason, received_at from orders
where account_id = $1::int and customer_phone = $2::text and review_state <> 'needs_review' and order_id < $3::bigint
order by order_id desc limit $4::int`,
};

/** The customer's orders before this one; null if there are none, or its phone number names nobody. */
export async function findEarlierOrders(
  database: Database,
  accountId: number,
  { order_id, customer: { phone } }: Pick<ListedOrder, 'order_id' | 'customer'>,
): Promise<EarlierOrders | null> {
  if (!isReachable(phone)) return null;
  const found = await run<EarlierOrder>(database, FIND, [accountId, phone, order_id, MAX_COUNTED + 1]);
  if (found.length === 0) return null;
  const counted = found.slice(0, MAX_COUNTED);
  return {
    count: counted.length,
    is_more: found.length > counted.length,
    rejected: counted.filter(({ review_state }) => review_state === 'rejected').length,
    newest: counted.slice(0, MAX_SHOWN),
  };
}
