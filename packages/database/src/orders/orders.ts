import {
  type Channel,
  itemJson,
  type NormalizedOrder,
  type Order,
  type ReviewState,
  type Warning,
  warningJson,
} from '@orders/domain';
import type { Knex } from 'knex';

/** An order as JSON shows it everywhere (contract, section 7). */
export type OrderJson = NormalizedOrder['order'] & {
  order_id: number;
  account_id: number;
  channel: Channel;
  receipt_id: string;
  warnings: Warning[];
  review_state: ReviewState;
  received_at: Date;
  written_at: Date;
};

export type OrderRow = Omit<OrderJson, 'customer'> & {
  customer_name: string | null;
  customer_phone: string | null;
  customer_email: string | null;
  customer_id: string | null;
};

export function toJson(row: OrderRow): OrderJson {
  return {
    order_id: row.order_id,
    account_id: row.account_id,
    source_order_id: row.source_order_id,
    order_number: row.order_number,
    channel: row.channel,
    receipt_id: row.receipt_id,
    customer: { name: row.customer_name, phone: row.customer_phone, email: row.customer_email, id: row.customer_id },
    address: row.address,
    emirate: row.emirate,
    emirate_code: row.emirate_code,
    area: row.area,
    items: row.items.map(itemJson),
    total: row.total,
    currency: row.currency,
    delivery_instructions: row.delivery_instructions,
    warnings: row.warnings.map(warningJson),
    review_state: row.review_state,
    received_at: row.received_at,
    written_at: row.written_at,
  };
}

/** The fields of it that a sender fills in. */
export function toOrder(stored: OrderJson): Order {
  const { source_order_id, order_number, customer, address, emirate, emirate_code, area } = stored;
  const { items, total, currency, delivery_instructions } = stored;
  const place = { address, emirate, emirate_code, area };
  return { source_order_id, order_number, customer, ...place, items, total, currency, delivery_instructions };
}

/**
 * SQL: the row of `orders` of this account and id, as a statement that can stand in another. Said as a range in order, it is found by the
 * primary key also by a plan that was made while the table was empty, when every index looks as good as any other.
 */
export const orderRow = (accountId: string, orderId: string) => `
  select * from orders where account_id = ${accountId} and order_id >= ${orderId} and order_id <= ${orderId} order by order_id limit 1`;

/** Orders, oldest first. */
export async function listOrders(
  db: Knex,
  filter: { accountId?: number | undefined; reviewState?: ReviewState | undefined; limit?: number | undefined },
): Promise<OrderJson[]> {
  const query = db<OrderRow>('orders').orderBy('order_id');
  if (filter.accountId !== undefined) query.where({ account_id: filter.accountId });
  if (filter.reviewState !== undefined) query.where({ review_state: filter.reviewState });
  if (filter.limit !== undefined) query.limit(filter.limit);
  return ((await query) as OrderRow[]).map(toJson);
}

/** The order of this id, whosever it is, or null. */
export async function findOrder(db: Knex, orderId: number): Promise<OrderJson | null> {
  const [row] = await db<OrderRow>('orders').where({ order_id: orderId });
  return row ? toJson(row as OrderRow) : null;
}

/** Who last confirmed, rejected or reopened an order, and when; nulls while nobody did. Beside the order's JSON, which does not hold it. */
export interface Review {
  reviewed_by: string | null;
  reviewed_at: Date | null;
  /** Why it was rejected. */
  review_reason: string | null;
}

/** How the review of an order stands, whosever it is. */
export async function findReview(db: Knex, orderId: number): Promise<Review> {
  const [review] = await db('orders')
    .where({ order_id: orderId })
    .select('reviewed_by', 'reviewed_at', 'review_reason');
  return review ?? { reviewed_by: null, reviewed_at: null, review_reason: null };
}
