import { type OrderJson, type OrderRow, toJson } from '@orders/database/orders/order-rows.ts';
import { type Connection, run } from '@orders/database/run.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';

/** Max orders per query, and max characters of their items and warnings, unless a single order has more. */
export const CHUNK = { count: 500, length: 4_194_304 };

const LENGTH = 'octet_length(items::text) + octet_length(warnings::text)';

const NEXT = `
select * from (
  select *, sum(${LENGTH}) over (order by order_id) - (${LENGTH}) as length_before from (
    select * from orders
    where order_id > $1 and ($2::int is null or account_id = $2) and ($3::text is null or review_state = $3)
    order by order_id limit $4
  ) as next
) as measured
where length_before < ${CHUNK.length} order by order_id`;

export interface OrderFilter {
  accountId?: number | undefined;
  reviewState?: ReviewState | undefined;
  limit?: number | undefined;
}

/** Yields orders, oldest first, in chunks that fit into memory. */
export async function* readOrders(connection: Connection, filter: OrderFilter): AsyncGenerator<OrderJson[]> {
  let remaining = filter.limit ?? Number.POSITIVE_INFINITY;
  let after = 0;
  while (remaining > 0) {
    const rows = await run<OrderRow>(connection, NEXT, [
      after,
      filter.accountId,
      filter.reviewState,
      Math.min(remaining, CHUNK.count),
    ]);
    if (rows.length === 0) return;
    yield rows.map(toJson);
    remaining -= rows.length;
    after = rows.at(-1)?.order_id ?? after;
  }
}

/** Like `readOrders`, in one array. */
export async function listOrders(connection: Connection, filter: OrderFilter): Promise<OrderJson[]> {
  const orders: OrderJson[] = [];
  for await (const chunk of readOrders(connection, filter)) orders.push(...chunk);
  return orders;
}

/** The order with this id of any account, or null. */
export async function findOrder(connection: Connection, orderId: number): Promise<OrderJson | null> {
  const find = 'select * from orders where order_id = $1';
  const [row] = await run<OrderRow>(connection, find, [orderId]);
  return row ? toJson(row) : null;
}

/** Who last confirmed, rejected or reopened an order, and when; null if nobody did. It is not part of `OrderJson`. */
export interface Review {
  reviewed_by: string | null;
  reviewed_at: Date | null;
  /** Why it was rejected. */
  review_reason: string | null;
}

/** The review of an order of any account. */
export async function findReview(connection: Connection, orderId: number): Promise<Review> {
  const find = 'select reviewed_by, reviewed_at, review_reason from orders where order_id = $1';
  const [review] = await run<Review>(connection, find, [orderId]);
  return review ?? { reviewed_by: null, reviewed_at: null, review_reason: null };
}
