import {
  type Database,
  findOrderHistory,
  findReceiptBody,
  findReviewedOrder,
  type OrderEvent,
  type OrderJson,
  type OrderReview,
} from '@orders/database';
import { Problem } from '@orders/domain';

/** An order as its reviewer sees it. */
export interface ShownOrder {
  order: OrderJson;
  review: OrderReview;
  /** When the customer's data was removed from it. */
  erased_at: Date | null;
  /** The payload as received, or what was left of it then; null when its retention is over. */
  raw: { text: string } | null;
  /** Newest first. */
  history: OrderEvent[];
}

/** @throws {Problem} `order_not_found`. */
export async function showOrder(database: Database, accountId: number, orderId: number): Promise<ShownOrder> {
  const found = await findReviewedOrder(database, accountId, orderId);
  if (!found) throw new Problem('order_not_found');
  const [body, history] = await Promise.all([
    findReceiptBody(database, accountId, found.order.receipt_id),
    findOrderHistory(database, accountId, orderId),
  ]);
  return { ...found, raw: body && { text: body.toString('utf8') }, history };
}
