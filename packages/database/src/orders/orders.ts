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

/** An order in JSON, the same everywhere (contract, section 7). */
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

/** An order in a list, with only the numbers of items and warnings, which can be a thousand times longer. */
export type ListedOrder = Omit<OrderJson, 'items' | 'warnings'> & { item_count: number; warning_count: number };

type Flat<T extends { customer: Order['customer'] }> = Omit<T, 'customer'> & {
  customer_name: string | null;
  customer_phone: string | null;
  customer_email: string | null;
  customer_id: string | null;
};

export type OrderRow = Flat<OrderJson>;
export type ListedRow = Flat<ListedOrder>;

/** SQL: the columns of a `ListedRow`, from `orders o`. */
export const LISTED_COLUMNS = `
  o.order_id, o.account_id, o.source_order_id, o.order_number, o.channel, o.receipt_id, o.customer_name, o.customer_phone,
  o.customer_email, o.customer_id, o.address, o.emirate, o.emirate_code, o.area, jsonb_array_length(o.items) as item_count,
  o.total, o.currency, o.delivery_instructions, jsonb_array_length(o.warnings) as warning_count, o.review_state,
  o.received_at, o.written_at`;

export function toListed(row: ListedRow): ListedOrder {
  return {
    ...beforeItems(row),
    item_count: row.item_count,
    ...behindItems(row),
    warning_count: row.warning_count,
    ...behindWarnings(row),
  };
}

export function toJson(row: OrderRow): OrderJson {
  return {
    ...beforeItems(row),
    items: row.items.map(itemJson),
    ...behindItems(row),
    warnings: row.warnings.map(warningJson),
    ...behindWarnings(row),
  };
}

type Common = Omit<OrderRow, 'items' | 'warnings'>;

function beforeItems(row: Common) {
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
  };
}

function behindItems({ total, currency, delivery_instructions }: Common) {
  return { total, currency, delivery_instructions };
}

function behindWarnings({ review_state, received_at, written_at }: Common) {
  return { review_state, received_at, written_at };
}

/** The fields that senders provide. */
export function toOrder(stored: OrderJson): Order {
  const { source_order_id, order_number, customer, address, emirate, emirate_code, area } = stored;
  const { items, total, currency, delivery_instructions } = stored;
  const location = { address, emirate, emirate_code, area };
  return { source_order_id, order_number, customer, ...location, items, total, currency, delivery_instructions };
}

/**
 * SQL: a subquery for the order with this account and id. As an ordered range, it uses the primary key even if the plan was made for an
 * empty table, when all indexes look equally good.
 */
export const orderRow = (accountId: string, orderId: string) => `
  select * from orders where account_id = ${accountId} and order_id >= ${orderId} and order_id <= ${orderId} order by order_id limit 1`;

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
    const next = db('orders').where('order_id', '>', after).orderBy('order_id').limit(Math.min(remaining, CHUNK.count));
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
  const [row] = await db<OrderRow>('orders').where({ order_id: orderId });
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
