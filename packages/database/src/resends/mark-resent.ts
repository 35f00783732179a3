import { type Database, run } from '../connect.ts';

/** Whether the newest changed resend of an order has a decision. */
export type Resent = 'undecided' | 'decided';

const FIND = {
  name: 'find-resent',
  text: `
select newest.order_id, newest.decision is null as undecided
from unnest($2::bigint[]) as wanted(order_id)
cross join lateral (
  select order_id, decision from resends
  where account_id = $1::int and order_id = wanted.order_id and changes is not null
  order by received_at desc, receipt_id desc limit 1
) as newest`,
};

/** Adds `resent` to orders of one account; null if an order has no changed resend. */
export async function markResent<Order extends { order_id: number }>(
  database: Database,
  accountId: number,
  orders: readonly Order[],
): Promise<(Order & { resent: Resent | null })[]> {
  if (orders.length === 0) return [];
  const ids = orders.map(({ order_id }) => order_id);
  const rows = await run<{ order_id: number; undecided: boolean }>(database, FIND, [accountId, ids]);
  const resent = new Map(
    rows.map(({ order_id, undecided }) => [order_id, undecided ? 'undecided' : 'decided'] as const),
  );
  return orders.map((order) => ({ ...order, resent: resent.get(order.order_id) ?? null }));
}
