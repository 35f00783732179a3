import {
  compareResent,
  type Difference,
  isResentOtherwise,
  normalizeOrder,
  type Order,
  parseBody,
} from '@orders/domain';
import { type Connection, run } from '../connect.ts';
import { type OrderRow, orderRow, toJson, toOrder } from '../orders/orders.ts';
import type { Repeat, WritableOrder } from '../orders/write-orders.ts';
import { BODY } from '../receipts/find-receipt.ts';

/** What a receipt says of an order that is written. */
export type RepeatedOrder = WritableOrder & Repeat;

/**
 * SQL: the `receipt_id` of the last accepted resend of the order of `alias`. Only the newest with changes is ever decided, so it is the one
 * that was accepted last, too.
 */
export const lastAccepted = (alias: string) => `
  select receipt_id from resends
  where account_id = ${alias}.account_id and order_id = ${alias}.order_id and changes is not null and decision = 'accepted'
  order by receipt_id desc limit 1`;

const FIND_ORDERS = {
  name: 'find-repeated-orders',
  text: `
select o.*
from unnest($1::int[], $2::bigint[]) as i(account_id, order_id)
cross join lateral (${orderRow('i.account_id', 'i.order_id')}) as o
where o.erased_at is null`,
};

const FIND_FIRSTS = {
  name: 'find-first-bodies',
  text: `
select i.order_id as "orderId", accepted.receipt_id as "acceptedId", r.erased_at as "erasedAt", ${BODY} as body
from unnest($1::int[], $2::bigint[], $3::uuid[]) as i(account_id, order_id, receipt_id)
left join lateral (${lastAccepted('i')}) as accepted on true
left join lateral (
  select * from receipts where receipt_id = coalesce(accepted.receipt_id, i.receipt_id) and account_id = i.account_id
  offset 0
) as r on true`,
};

/** What a receipt says differently from its order. */
export interface Changes {
  differences: Difference[];
  /** The accepted resend that it was compared with; null where that was what came first. */
  acceptedId: string | null;
}

/**
 * What each of these receipts says differently from its order as the sender last made it: as it was first sent, or as the last accepted
 * resend has it. So a reviewer's edit is not taken for a change, and what the order says by now needs no decision. Where the payload of
 * then is gone, the order itself is what there is to compare with; of an erased customer nothing is compared.
 *
 * @returns those that differ, by receipt id.
 */
export async function findChanges(
  database: Connection,
  repeated: readonly RepeatedOrder[],
): Promise<Map<string, Changes>> {
  const byId = new Map(repeated.map((one) => [one.orderId, one]));
  const wanted = [...byId.values()];
  const rows = await run<OrderRow>(database, FIND_ORDERS, [
    wanted.map(({ accountId }) => accountId),
    wanted.map(({ orderId }) => orderId),
  ]);
  const stored = new Map(rows.map((row) => [row.order_id, { row, order: toOrder(toJson(row)) }]));
  const differing = repeated.filter(({ receiptId, orderId, order }) => {
    const known = stored.get(orderId);
    // Its own receipt: another worker has just written it.
    return known && known.row.receipt_id !== receiptId && isResentOtherwise(known.order, order);
  });
  const changes = new Map<string, Changes>();
  if (differing.length === 0) return changes;
  const isDiffering = new Set(differing.map(({ orderId }) => orderId));
  const firsts = await findFirsts(
    database,
    rows.filter((row) => isDiffering.has(row.order_id)),
  );
  for (const { receiptId, orderId, order } of differing) {
    const { first = stored.get(orderId)?.order, acceptedId = null } = firsts.get(orderId) ?? {};
    const differences = first ? compareResent(first, order) : [];
    if (differences.length > 0) changes.set(receiptId, { differences, acceptedId });
  }
  return changes;
}

interface First {
  /** As it was sent; null where it was erased since, undefined where the payload is gone. */
  first: Order | null | undefined;
  acceptedId: string | null;
}

/** Orders as they were sent, by order id. */
async function findFirsts(database: Connection, rows: readonly OrderRow[]): Promise<Map<number, First>> {
  const found = await run<Omit<First, 'first'> & { orderId: number; erasedAt: Date | null; body: Buffer | null }>(
    database,
    FIND_FIRSTS,
    [rows.map((row) => row.account_id), rows.map((row) => row.order_id), rows.map((row) => row.receipt_id)],
  );
  return new Map(
    found.map(({ orderId, acceptedId, erasedAt, body }) => {
      const first = erasedAt !== null ? null : body === null ? undefined : normalizeOrder(parseBody(body)).order;
      return [orderId, { first, acceptedId }];
    }),
  );
}
