import { isTestAccount } from '@orders/database/accounts/test-accounts.ts';
import { type OrderJson, type OrderRow, toJson } from '@orders/database/orders/order-rows.ts';
import { type Connection, run } from '@orders/database/run.ts';
import type { ReviewState } from '@orders/domain/receipt-states.ts';

/** Max orders per query, and max characters of their items and warnings, unless a single order has more. */
export const CHUNK = { count: 500, length: 4_194_304 };

const LENGTH = 'octet_length(items::text) + octet_length(warnings::text)';

/** SQL: the next orders after an account and an id, in the sequence of the primary key. */
const next = (condition: string) => `
select * from (
  select *, sum(${LENGTH}) over (order by account_id, order_id) - (${LENGTH}) as length_before from (
    select o.* from orders o
    where ${condition} and ($3::text is null or review_state = $3)
    order by account_id, order_id limit $4
  ) as next
) as measured
where length_before < ${CHUNK.length} order by account_id, order_id`;

const NEXT_OF_ALL = next('(account_id, order_id) > ($1::int, $2::bigint)');
const NEXT_OF_LIVE = next(`(account_id, order_id) > ($1::int, $2::bigint) and not ${isTestAccount('o.account_id')}`);
const NEXT_OF_ACCOUNT = next('account_id = $1::int and order_id > $2::bigint');

export interface OrderFilter {
  /** Without it, orders of all accounts but test accounts, and of those too if `includesTests`. */
  accountId?: number | undefined;
  includesTests?: boolean;
  reviewState?: ReviewState | undefined;
  limit?: number | undefined;
}

/** Yields orders by account, oldest first, in chunks that fit into memory. */
export async function* readOrders(connection: Connection, filter: OrderFilter): AsyncGenerator<OrderJson[]> {
  for await (const rows of readOrderRows(connection, filter)) yield rows.map(toJson);
}

/** The same, with all columns. */
export async function* readOrderRows<Row extends OrderRow>(
  connection: Connection,
  filter: OrderFilter,
): AsyncGenerator<Row[]> {
  const { accountId, includesTests = false, reviewState, limit = Number.POSITIVE_INFINITY } = filter;
  const ofMany = includesTests ? NEXT_OF_ALL : NEXT_OF_LIVE;
  const statement = accountId === undefined ? ofMany : NEXT_OF_ACCOUNT;
  let remaining = limit;
  let after: [accountId: number, orderId: number] = [accountId ?? 0, 0];
  while (remaining > 0) {
    const rows = await run<Row>(connection, statement, [...after, reviewState, Math.min(remaining, CHUNK.count)]);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    remaining -= rows.length;
    after = [last.account_id, last.order_id];
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
