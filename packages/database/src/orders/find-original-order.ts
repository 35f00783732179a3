import { type Database, run } from '../connect.ts';

/** An order that exists, and the receipt it was written from. */
export interface OriginalOrder {
  receipt_id: string;
  order_id: number;
}

const FIND = {
  name: 'find-original-order',
  text: 'select receipt_id, order_id from orders where account_id = $1::int and source_order_id = $2::text',
};

/** The order of this account and `source_order_id`, of which another one would be a duplicate; null if there is none. */
export async function findOriginalOrder(
  database: Database,
  accountId: number,
  sourceOrderId: string,
): Promise<OriginalOrder | null> {
  const [order] = await run<OriginalOrder>(database, FIND, [accountId, sourceOrderId]);
  return order ?? null;
}
