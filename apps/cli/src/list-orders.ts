import { IS_ORDER, type OrderJson, type OrderRow, toJson } from '@orders/database/orders/order-rows.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';
import type { Knex } from 'knex';

/** Max orders per query, and max characters of their items and warnings, unless a single order has more. */
const CHUNK = { count: 500, length: 4_194_304 };

export interface OrderFilter {
  accountId?: number | undefined;
  reviewState?: ReviewState | undefined;
  limit?: number | undefined;
}

/** Yields orders, oldest first, in chunks that fit into memory. */
export async function* readOrders(db: Knex, filter: OrderFilter): AsyncGenerator<OrderJson[]> {
  let remaining = filter.limit ?? Number.POSITIVE_INFINITY;
  let after = 0;
  while (remaining > 0) {
    const next = db('orders')
      .where('order_id', '>', after)
      .whereRaw(IS_ORDER)
      .orderBy('order_id')
      .limit(Math.min(remaining, CHUNK.count));
    if (filter.accountId !== undefined) next.where({ account_id: filter.accountId });
    if (filter.reviewState !== undefined) next.where({ review_state: filter.reviewState });
    const length = 'octet_length(items::text) + octet_length(warnings::text)';
    const measured = db
      .from(next.as('next'))
      .select('*', db.raw(`sum(${length}) over (order by order_id) - (${length}) as length_before`));
    const rows: OrderRow[] = await db
      .from(measured.as('measured'))
      .where('length_before', '<', CHUNK.length)
      .orderBy('order_id');
    if (rows.length === 0) return;
    yield rows.map(toJson);
    remaining -= rows.length;
    after = rows.at(-1)?.order_id ?? after;
  }
}

/** Like `readOrders`, in one array. */
export async function listOrders(db: Knex, filter: OrderFilter): Promise<OrderJson[]> {
  const orders: OrderJson[] = [];
  for await (const chunk of readOrders(db, filter)) orders.push(...chunk);
  return orders;
}

/** The order with this id of any account, or null. */
export async function findOrder(db: Knex, orderId: number): Promise<OrderJson | null> {
  const [row] = await db<OrderRow>('orders').where({ order_id: orderId }).whereRaw(IS_ORDER);
  return row ? toJson(row as OrderRow) : null;
}

/** Who last confirmed, rejected or reopened an order, and when; null if nobody did. It is not part of `OrderJson`. */
export interface Review {
  reviewed_by: string | null;
  reviewed_at: Date | null;
  /** Why it was rejected. */
  review_reason: string | null;
}

/** The review of an order of any account. */
export async function findReview(db: Knex, orderId: number): Promise<Review> {
  const [review] = await db('orders')
    .where({ order_id: orderId })
    .select('reviewed_by', 'reviewed_at', 'review_reason');
  return review ?? { reviewed_by: null, reviewed_at: null, review_reason: null };
}
