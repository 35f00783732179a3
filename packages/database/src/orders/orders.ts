import type { Channel, NormalizedOrder, ReviewState, Warning } from '@orders/domain';
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

type OrderRow = Omit<OrderJson, 'customer'> & {
  customer_name: string | null;
  customer_phone: string | null;
  customer_email: string | null;
  customer_id: string | null;
};

function toJson(row: OrderRow): OrderJson {
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
    items: row.items,
    total: row.total,
    currency: row.currency,
    delivery_instructions: row.delivery_instructions,
    warnings: row.warnings,
    review_state: row.review_state,
    received_at: row.received_at,
    written_at: row.written_at,
  };
}

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

/** The order of this id, or null. */
export async function findOrder(db: Knex, orderId: number): Promise<OrderJson | null> {
  const [row] = await db<OrderRow>('orders').where({ order_id: orderId });
  return row ? toJson(row as OrderRow) : null;
}

const ALLOWED_FROM: Record<ReviewState, ReviewState> = {
  confirmed: 'needs_review',
  rejected: 'needs_review',
  needs_review: 'rejected',
};

/**
 * Confirms or rejects an order that needs review, or reopens (`needs_review`) a rejected one, on record under `by`.
 *
 * @returns the order, and whether it was in a state that allows this; null when there is no such order.
 */
export async function reviewOrder(
  db: Knex,
  orderId: number,
  to: ReviewState,
  by: string,
): Promise<{ order: OrderJson; changed: boolean } | null> {
  const changed = await db('orders')
    .where({ order_id: orderId, review_state: ALLOWED_FROM[to] })
    .update({
      review_state: to,
      reviewed_by: by,
      reviewed_at: db.fn.now(),
      confirmed_xid: to === 'confirmed' ? db.raw('pg_current_xact_id()') : null,
    });
  const order = await findOrder(db, orderId);
  return order && { order, changed: changed > 0 };
}

/** Who last confirmed, rejected or reopened an order, and when; nulls while nobody did. Beside the order's JSON, which does not hold it. */
export interface Review {
  reviewed_by: string | null;
  reviewed_at: Date | null;
}

export async function findReview(db: Knex, orderId: number): Promise<Review> {
  const [review] = await db('orders').where({ order_id: orderId }).select('reviewed_by', 'reviewed_at');
  return review ?? { reviewed_by: null, reviewed_at: null };
}
