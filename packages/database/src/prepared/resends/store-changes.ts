import { type Connection, run } from '../run.ts';
import { type Changes, type DuplicateOrder, lastAccepted } from './find-changes.ts';

/** A resend was accepted between the comparison and the lock. */
export class OutdatedComparison extends Error {}

// One locked order must not block the rest of the batch.
const LOCK_TIMEOUT = "set local lock_timeout = '1s'";

const lockOrders = (how: string) => `
select o.order_id as "orderId", o.erased_at is not null as "isErased"
from unnest($1::int[], $2::bigint[]) as i(account_id, order_id)
cross join lateral (
  select order_id, erased_at from orders
  where account_id = i.account_id and order_id >= i.order_id and order_id <= i.order_id
  order by order_id limit 1
  for share ${how}
) as o`;

// Orders are locked in id order, as reviews do.
const LOCK = { name: 'lock-orders', text: lockOrders('') };
const LOCK_FREE = { name: 'lock-free-orders', text: lockOrders('skip locked') };

const STORE = {
  name: 'store-changes',
  // A resend with the same changes as the decided one before it takes over that decision. If a value was cut, it does not, as the rest of
  // the value is unknown. A resend that was compared with an outdated version is not inserted.
  text: `
with input as (
  select i.account_id, i.order_id, i.receipt_id, i.received_at, i.changes::jsonb as changes
  from unnest($1::int[], $2::bigint[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[])
    as i(account_id, order_id, receipt_id, changes, compared_with, received_at)
  left join lateral (${lastAccepted('i')}) as accepted on true
  where accepted.receipt_id is not distinct from i.compared_with
), compared as (
  select i.*, before.decision, before.decided_by, before.decided_at,
         bool_and(i.changes = before.changes and not i.changes @> '[{"cut": true}]')
           over (partition by i.account_id, i.order_id order by i.received_at, i.receipt_id) as takes_over
  from input i
  left join lateral (
    select changes, decision, decided_by, decided_at from resends
    where account_id = i.account_id and order_id = i.order_id and changes is not null
      and (received_at, receipt_id) < (i.received_at, i.receipt_id)
    order by received_at desc, receipt_id desc limit 1
  ) as before on true
)
insert into resends (account_id, order_id, receipt_id, received_at, changes, decision, decided_by, decided_at)
select account_id, order_id, receipt_id, received_at, changes, case when takes_over then decision end,
       case when takes_over then decided_by end, case when takes_over then decided_at end
from compared
returning receipt_id as "receiptId"`,
};

/**
 * Stores the changes of these receipts. Locks their orders, so that erasures and decisions are serialized with it.
 *
 * @param receivedAt by receipt id, with microseconds.
 * @throws {OutdatedComparison} when a comparison is outdated; {pg.DatabaseError} 55P03 when an order is locked for more than a second.
 */
export async function storeChanges(
  connection: Connection,
  changed: readonly DuplicateOrder[],
  changes: ReadonlyMap<string, Changes>,
  receivedAt: ReadonlyMap<string, string>,
): Promise<void> {
  await connection.pool.query(LOCK_TIMEOUT);
  const locked = await lock(connection, LOCK, changed);
  const stored = await run<{ receiptId: string }>(connection, STORE, [
    changed.map(({ accountId }) => accountId),
    changed.map(({ orderId }) => orderId),
    changed.map(({ receiptId }) => receiptId),
    // No changes for an order that was erased meanwhile.
    changed.map(({ orderId, receiptId }) =>
      locked.get(orderId)?.isErased === false ? JSON.stringify(changes.get(receiptId)?.differences) : null,
    ),
    changed.map(({ receiptId }) => changes.get(receiptId)?.acceptedId ?? null),
    changed.map(({ receiptId }) => receivedAt.get(receiptId)),
  ]);
  if (stored.length < changed.length) throw new OutdatedComparison();
}

/** @returns the orders of these duplicates that no other transaction has locked, by id. */
export async function findUnlocked(
  connection: Connection,
  duplicates: readonly DuplicateOrder[],
): Promise<ReadonlyMap<number, unknown>> {
  return lock(connection, LOCK_FREE, duplicates);
}

/** @returns the locked orders by id. */
async function lock(
  connection: Connection,
  statement: typeof LOCK,
  duplicates: readonly DuplicateOrder[],
): Promise<Map<number, { isErased: boolean }>> {
  const byId = new Map(duplicates.map((duplicate) => [duplicate.orderId, duplicate]));
  const orders = [...byId.values()].toSorted((a, b) => a.orderId - b.orderId);
  const rows = await run<{ orderId: number; isErased: boolean }>(connection, statement, [
    orders.map(({ accountId }) => accountId),
    orders.map(({ orderId }) => orderId),
  ]);
  return new Map(rows.map((row) => [row.orderId, row]));
}
