import type { ReviewState } from '@orders/domain/receipt-states.ts';
import type { Knex } from 'knex';
import { IS_ORDER } from './order-rows.ts';

export interface OrderState {
  order_id: number;
  review_state: ReviewState;
}

/**
 * Locks orders in id order and returns their states.
 *
 * @returns null when the account does not have all of them.
 */
export async function lockOrders(
  trx: Knex.Transaction,
  accountId: number,
  orderIds: readonly number[],
): Promise<OrderState[] | null> {
  const ids = [...new Set(orderIds)];
  const { rows } = await trx.raw<{ rows: OrderState[] }>(
    `select order_id, review_state from orders
     where account_id = ? and order_id = any(?::bigint[]) and ${IS_ORDER} order by order_id for update`,
    [accountId, ids],
  );
  return rows.length === ids.length ? rows : null;
}

/** The states of the orders that belong to the account. */
export async function statesOf(db: Knex, accountId: number, orderIds: readonly number[]): Promise<OrderState[]> {
  return db('orders')
    .where({ account_id: accountId })
    .whereIn('order_id', orderIds)
    .whereRaw(IS_ORDER)
    .orderBy('order_id')
    .select('order_id', 'review_state');
}
