import { type Connection, run } from '../run.ts';
import { IS_ORDER } from './order-rows.ts';

const FIND = {
  name: 'find-order-by-source',
  text: `
select receipt_id, order_id from orders
where account_id = $1::int and source_order_id = $2::text and ${IS_ORDER}`,
};

/** The ids of the order with this `source_order_id` and of its receipt; null if there is none. */
export async function findOrderBySource(
  database: Connection,
  accountId: number,
  sourceOrderId: string,
): Promise<{ receipt_id: string; order_id: number } | null> {
  const [order] = await run<{ receipt_id: string; order_id: number }>(database, FIND, [accountId, sourceOrderId]);
  return order ?? null;
}

const FIND_HELD = {
  name: 'find-held-cancellation',
  text: `
select from orders
where account_id = $1::int and source_order_id = $2::text and not (${IS_ORDER})`,
};

/** Whether a cancellation is held for an order that has not arrived. */
export async function isCancellationHeld(
  database: Connection,
  accountId: number,
  sourceOrderId: string,
): Promise<boolean> {
  return (await run(database, FIND_HELD, [accountId, sourceOrderId])).length > 0;
}
