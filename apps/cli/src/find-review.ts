import type { Knex } from './with-database.ts';

/** Who last confirmed, rejected or reopened an order, and when; nulls while nobody did. */
export interface Review {
  reviewed_by: string | null;
  reviewed_at: Date | null;
}

/** The order's JSON (contract, section 7) does not hold this; people want to see it. */
export async function findReview(knex: Knex, orderId: number): Promise<Review> {
  const [review] = await knex('orders').where({ order_id: orderId }).select('reviewed_by', 'reviewed_at');
  return review ?? { reviewed_by: null, reviewed_at: null };
}
