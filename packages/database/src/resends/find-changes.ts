import { compareResent, type Difference, normalizeOrder, type Order, parseBody } from '@orders/domain';
import { type Connection, run } from '../connect.ts';
import { type OrderRow, orderRow, toJson, toOrder } from '../orders/orders.ts';
import type { Repeat, WritableOrder } from '../orders/write-orders.ts';
import { BODY } from '../receipts/find-receipt.ts';

/** What a receipt says of an order that is written. */
export type RepeatedOrder = WritableOrder & Repeat;

type Stored = OrderRow & { firstReceiptId: string };

const FIND_ORDERS = {
  name: 'find-repeated-orders',
  text: `
select o.*, coalesce(accepted.receipt_id, o.receipt_id) as "firstReceiptId"
from unnest($1::int[], $2::bigint[]) as i(account_id, order_id)
cross join lateral (${orderRow('i.account_id', 'i.order_id')}) as o
left join lateral (
  select receipt_id from resends
  where account_id = o.account_id and order_id = o.order_id and decision = 'accepted'
  order by receipt_id desc limit 1
) as accepted on true
where o.erased_at is null`,
};

const FIND_FIRSTS = {
  name: 'find-first-bodies',
  text: `
select r.receipt_id as "receiptId", r.erased_at as "erasedAt", ${BODY} as body
from unnest($1::uuid[], $2::int[]) as i(receipt_id, account_id)
cross join lateral (
  select * from receipts where receipt_id = i.receipt_id and account_id = i.account_id
  offset 0
) as r`,
};

/**
 * What each of these receipts says otherwise than its order as the sender last made it: as it was first sent, or as the last accepted
 * resend has it. So a reviewer's edit is not taken for a change, and what the order says by now needs no decision. Where the payload of
 * then is gone, the order itself is what there is to compare with; of an erased customer nothing is compared.
 *
 * @returns those that differ, by receipt id.
 */
export async function findChanges(
  database: Connection,
  repeated: readonly RepeatedOrder[],
): Promise<Map<string, Difference[]>> {
  const byId = new Map(repeated.map((one) => [one.orderId, one]));
  const wanted = [...byId.values()];
  const orders = await run<Stored>(database, FIND_ORDERS, [
    wanted.map(({ accountId }) => accountId),
    wanted.map(({ orderId }) => orderId),
  ]);
  const stored = new Map(orders.map((row) => [row.order_id, { row, order: toOrder(toJson(row)) }]));
  const differing = repeated.filter(({ receiptId, orderId, order }) => {
    const known = stored.get(orderId);
    // Its own receipt: another worker has just written it.
    return known && known.row.receipt_id !== receiptId && compareResent(known.order, order).length > 0;
  });
  if (differing.length === 0) return new Map();
  const rows = [...new Set(differing.map(({ orderId }) => orderId))].map(
    (orderId) => stored.get(orderId)?.row as Stored,
  );
  const firsts = await findFirsts(database, rows);
  const changes = new Map<string, Difference[]>();
  for (const { receiptId, orderId, order } of differing) {
    const { row, order: now } = stored.get(orderId) as { row: Stored; order: Order };
    const first = firsts.has(row.firstReceiptId) ? firsts.get(row.firstReceiptId) : now;
    const differences = first ? compareResent(first, order) : [];
    if (differences.length > 0) changes.set(receiptId, differences);
  }
  return changes;
}

/** Orders as they were sent, by receipt id; null where they were erased since. Those whose payload is gone are missing. */
async function findFirsts(database: Connection, rows: readonly Stored[]): Promise<Map<string, Order | null>> {
  const found = await run<{ receiptId: string; erasedAt: Date | null; body: Buffer | null }>(database, FIND_FIRSTS, [
    rows.map(({ firstReceiptId }) => firstReceiptId),
    rows.map(({ account_id }) => account_id),
  ]);
  const firsts = new Map<string, Order | null>();
  for (const { receiptId, erasedAt, body } of found) {
    if (erasedAt !== null) firsts.set(receiptId, null);
    else if (body !== null) firsts.set(receiptId, normalizeOrder(parseBody(body)).order);
  }
  return firsts;
}
