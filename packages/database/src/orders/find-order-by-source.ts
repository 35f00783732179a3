import { type Connection, run } from '../run.ts';

const FIND = {
  name: 'find-order-by-source',
  text: `
select k.order_id, o.receipt_id
from order_keys k
left join lateral (
  select receipt_id from orders where account_id = k.account_id and order_id = k.order_id offset 0
) as o on true
where k.account_id = $1::int and k.source_order_id = $2::text`,
};

/** What an account has under a `source_order_id`. */
export interface FoundKey {
  /** The ids of the order and of its receipt; null if there is no order. */
  order: { receipt_id: string; order_id: number } | null;
  /** Whether a cancellation is held for an order that has not arrived. */
  isCancellationHeld: boolean;
}

export async function findKey(database: Connection, accountId: number, sourceOrderId: string): Promise<FoundKey> {
  type Row = { order_id: number | null; receipt_id: string | null };
  const [key] = await run<Row>(database, FIND, [accountId, sourceOrderId]);
  const { order_id = null, receipt_id = null } = key ?? {};
  return {
    order: order_id === null || receipt_id === null ? null : { receipt_id, order_id },
    isCancellationHeld: key !== undefined && order_id === null,
  };
}

/** The ids of the order with this `source_order_id` and of its receipt; null if there is none. */
export async function findOrderBySource(
  database: Connection,
  accountId: number,
  sourceOrderId: string,
): Promise<FoundKey['order']> {
  return (await findKey(database, accountId, sourceOrderId)).order;
}
