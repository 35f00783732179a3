import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  compareResent,
  type Difference,
  isResentOtherwise,
  LONG_BODY_BYTES,
  normalizeOrder,
  parseBody,
} from '@orders/domain';
import { type Connection, run } from '../connect.ts';
import { isDamage } from '../database-errors.ts';
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
  order by received_at desc, receipt_id desc limit 1`;

/** Items of stored orders that are compared at once, in characters of their JSON, or those of a single order. */
const PART_LENGTH = 2 ** 20;

const FIND_ORDERS = {
  name: 'find-repeated-orders',
  text: `
select * from (
  select o.*, sum(octet_length(o.items::text)) over (order by o.order_id) - octet_length(o.items::text) as length_before
  from unnest($1::int[], $2::bigint[]) as i(account_id, order_id)
  cross join lateral (${orderRow('i.account_id', 'i.order_id')}) as o
  where o.erased_at is null
) as o
where length_before < ${PART_LENGTH}
order by order_id`,
};

const FIND_FIRSTS = {
  name: 'find-first-bodies',
  text: `
select i.order_id as "orderId", accepted.receipt_id as "acceptedId", r.erased_at as "erasedAt",
       case when $4::boolean then ${BODY} end as body
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
  const changes = new Map<string, Changes>();
  const byId = new Map(repeated.map((one) => [one.orderId, one]));
  let wanted = [...byId.values()].toSorted((a, b) => a.orderId - b.orderId);
  while (wanted.length > 0) {
    const rows = await run<OrderRow>(database, FIND_ORDERS, [
      wanted.map(({ accountId }) => accountId),
      wanted.map(({ orderId }) => orderId),
    ]);
    await compareWith(database, rows, repeated, changes);
    const last = rows.at(-1)?.order_id ?? Number.POSITIVE_INFINITY;
    wanted = wanted.filter(({ orderId }) => orderId > last);
  }
  return changes;
}

/** Finds the changes of those that repeat one of these orders, and adds them. */
async function compareWith(
  database: Connection,
  rows: readonly OrderRow[],
  repeated: readonly RepeatedOrder[],
  changes: Map<string, Changes>,
): Promise<void> {
  const stored = new Map(rows.map((row) => [row.order_id, { row, order: toOrder(toJson(row)) }]));
  const differing = repeated.filter(({ receiptId, orderId, order }) => {
    const known = stored.get(orderId);
    // Its own receipt: another worker has just written it.
    return known && known.row.receipt_id !== receiptId && isResentOtherwise(known.order, order);
  });
  if (differing.length === 0) return;
  const byOrder = Map.groupBy(differing, ({ orderId }) => orderId);
  const firsts = await findFirsts(
    database,
    rows.filter((row) => byOrder.has(row.order_id)),
  );
  // One after the other: what a payload becomes may be fifty times as large. Other batches run between long ones.
  for (const { orderId, acceptedId, erasedAt, body } of firsts) {
    if (erasedAt !== null) continue;
    if (body && body.length > LONG_BODY_BYTES) await yieldToEventLoop();
    const first = body === null ? stored.get(orderId)?.order : normalizeOrder(parseBody(body)).order;
    for (const { receiptId, order } of byOrder.get(orderId) ?? []) {
      const differences = first ? compareResent(first, order) : [];
      if (differences.length > 0) changes.set(receiptId, { differences, acceptedId });
    }
  }
}

/** An order as it was sent, as its last accepted resend has it, or else as it was sent first. */
interface First {
  orderId: number;
  acceptedId: string | null;
  erasedAt: Date | null;
  /** Null where the payload is gone, or cannot be read. */
  body: Buffer | null;
}

/** A body that cannot be read must not keep what was sent again from being compared: it is left out, once it is known which one it is. */
async function findFirsts(
  database: Connection,
  rows: readonly OrderRow[],
  { readsBodies } = { readsBodies: true },
): Promise<First[]> {
  try {
    return await run<First>(database, FIND_FIRSTS, [
      rows.map((row) => row.account_id),
      rows.map((row) => row.order_id),
      rows.map((row) => row.receipt_id),
      readsBodies,
    ]);
  } catch (error) {
    if (!isDamage(error) || !readsBodies) throw error;
    if (rows.length === 1) return findFirsts(database, rows, { readsBodies: false });
    const firsts: First[] = [];
    for (const row of rows) firsts.push(...(await findFirsts(database, [row])));
    return firsts;
  }
}
