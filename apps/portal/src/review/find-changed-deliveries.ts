import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import type { Difference } from '@orders/domain/compare-orders.ts';
import { differenceJson } from '@orders/domain/receipt-json.ts';

export type Decision = 'accepted' | 'refused';

/** A duplicate receipt with other content than its order. The newest one of an order is pending while `decision` is null. */
export interface ChangedDelivery {
  order_id: number;
  receipt_id: string;
  /** By Postgres' clock. */
  received_at: Date;
  changes: Difference[];
  /** See the column of `changed_deliveries`. */
  is_outdated: boolean;
  decision: Decision | null;
  decided_by: string | null;
  decided_at: Date | null;
}

const MAX_PER_ORDER = 20;

const FIND = {
  name: 'find-changed-deliveries',
  text: `
select s.order_id, s.receipt_id, s.received_at, s.changes, s.is_outdated, s.decision, s.decided_by, s.decided_at
from unnest($2::bigint[]) as wanted(order_id)
cross join lateral (
  select * from changed_deliveries
  where account_id = $1::int and order_id = wanted.order_id and changes is not null
  order by version_at desc, receipt_id desc limit ${MAX_PER_ORDER}
) as s
order by s.order_id, s.is_outdated, s.version_at desc, s.receipt_id desc`,
};

/**
 * Changed deliveries of these orders of an account, the newest of each order first and the outdated ones last, at most 20 per order. A changed delivery is kept longer than its
 * receipt, so a reviewer can still decide it after the receipt was dropped.
 */
export async function findChangedDeliveries(
  database: Database,
  accountId: number,
  orderIds: readonly number[],
): Promise<ChangedDelivery[]> {
  const rows = await run<ChangedDelivery>(database, FIND, [accountId, orderIds]);
  return rows.map(({ changes, ...row }) => ({ ...row, changes: changes.map(differenceJson) }));
}

/** Whether the newest changed delivery of an order has a decision. */
export type ChangedDeliveryState = 'undecided' | 'decided';

const FIND_CHANGED = {
  name: 'find-orders-with-changed-deliveries',
  text: `
select newest.order_id, newest.decision is null as undecided
from unnest($2::bigint[]) as wanted(order_id)
cross join lateral (
  select order_id, decision from changed_deliveries
  where account_id = $1::int and order_id = wanted.order_id and changes is not null and not is_outdated
  order by version_at desc, receipt_id desc limit 1
) as newest`,
};

/** Those of these orders of an account whose newest changed delivery has no decision. */
export async function findUndecided(
  database: Database,
  accountId: number,
  orderIds: readonly number[],
): Promise<number[]> {
  const rows = await run<{ order_id: number; undecided: boolean }>(database, FIND_CHANGED, [accountId, orderIds]);
  return rows.filter(({ undecided }) => undecided).map(({ order_id }) => order_id);
}

/** Adds `resent` to orders of one account; null if an order has no changed delivery. */
export async function markChangedDeliveries<Order extends { order_id: number }>(
  database: Database,
  accountId: number,
  orders: readonly Order[],
): Promise<(Order & { resent: ChangedDeliveryState | null })[]> {
  if (orders.length === 0) return [];
  const ids = orders.map(({ order_id }) => order_id);
  const rows = await run<{ order_id: number; undecided: boolean }>(database, FIND_CHANGED, [accountId, ids]);
  const resent = new Map(
    rows.map(({ order_id, undecided }) => [order_id, undecided ? 'undecided' : 'decided'] as const),
  );
  return orders.map((order) => ({ ...order, resent: resent.get(order.order_id) ?? null }));
}
