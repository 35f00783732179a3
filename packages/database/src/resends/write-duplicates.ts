import type { Difference } from '@orders/domain';
import { type Connection, type Database, inTransaction, run } from '../connect.ts';
import { among } from '../receipts/among.ts';
import { findChanges, type RepeatedOrder } from './find-changes.ts';

/** A receipt that ended `duplicate`. */
export interface Duplicate {
  receiptId: string;
  /** Whether it says something else than its order. */
  isChanged: boolean;
}

const MOVE = {
  name: 'move-duplicates',
  text: `
with moved as (
  update receipts r
  set state = 'duplicate', attempts = r.attempts + 1, warnings = case when i.warnings <> '[]' then i.warnings::jsonb end,
      error_code = null, updated_at = now(), lease_id = null, lease_expires_at = null
  from unnest($4::uuid[], $5::int[], $6::bigint[], $7::text[], $8::boolean[])
    as i(receipt_id, account_id, order_id, warnings, is_changed)
  where ${among('r.receipt_id', '$4')} and r.receipt_id = i.receipt_id and r.account_id = i.account_id
    and r.lease_id = $1::uuid and r.state = 'normalized'
  returning r.receipt_id, i.account_id, i.order_id, i.is_changed
), kept as (
  insert into resends (account_id, order_id, receipt_id)
  select account_id, order_id, receipt_id from moved where not is_changed
), settled as (
  delete from outbox
  where batch_id = any($2::uuid[])
    and not exists (select from unnest(receipt_ids) as promised(id)
                    where id not in (select receipt_id from moved) and id <> all($3::uuid[]))
)
select receipt_id as "receiptId" from moved`,
};

const LOCK = {
  name: 'lock-repeated-orders',
  // In the order of their ids, as those who review them do.
  text: `
select o.order_id as "orderId"
from unnest($1::int[], $2::bigint[]) as i(account_id, order_id)
cross join lateral (
  select order_id from orders
  where account_id = i.account_id and order_id >= i.order_id and order_id <= i.order_id and erased_at is null
  order by order_id limit 1
  for share
) as o`,
};

const KEEP = {
  name: 'keep-changes',
  // Several of one order at once: one takes over a decision if those between it and the decided one say the same, too.
  text: `
with input as (
  select i.account_id, i.order_id, i.receipt_id, i.changes::jsonb as changes
  from unnest($1::int[], $2::bigint[], $3::uuid[], $4::text[]) as i(account_id, order_id, receipt_id, changes)
), compared as (
  select i.*, before.decision, before.decided_by, before.decided_at,
         bool_and(i.changes = before.changes) over (partition by i.account_id, i.order_id order by i.receipt_id) as takes_over
  from input i
  left join lateral (
    select changes, decision, decided_by, decided_at from resends
    where account_id = i.account_id and order_id = i.order_id and receipt_id < i.receipt_id and changes is not null
    order by receipt_id desc limit 1
  ) as before on true
)
insert into resends (account_id, order_id, receipt_id, changes, decision, decided_by, decided_at)
select account_id, order_id, receipt_id, changes, case when takes_over then decision end,
       case when takes_over then decided_by end, case when takes_over then decided_at end
from compared`,
};

/**
 * Moves receipts whose order the account has already to `duplicate`, and keeps what they say otherwise than that: one transaction, all or
 * nothing. A receipt whose lease is no longer ours is left alone and not returned. Of the promises in the outbox those go in the same
 * transaction of which each receipt was moved, by this or before.
 *
 * @param batchIds names the promises that may be kept by this.
 * @param movedBefore receipts of the same promises.
 * @throws {pg.DatabaseError} and nothing is written.
 */
export async function writeDuplicates(
  database: Database,
  leaseId: string,
  batchIds: readonly string[],
  movedBefore: readonly string[],
  repeated: readonly RepeatedOrder[],
): Promise<Duplicate[]> {
  const inOrder = repeated.toSorted((a, b) => (a.receiptId < b.receiptId ? -1 : 1));
  const changes = await findChanges(database, inOrder);
  const move = async (connection: Connection) => {
    const moved = await run<{ receiptId: string }>(connection, MOVE, [
      leaseId,
      batchIds,
      movedBefore,
      inOrder.map(({ receiptId }) => receiptId),
      inOrder.map(({ accountId }) => accountId),
      inOrder.map(({ orderId }) => orderId),
      inOrder.map(({ warnings }) => JSON.stringify(warnings)),
      inOrder.map(({ receiptId }) => changes.has(receiptId)),
    ]);
    return moved.map(({ receiptId }) => ({ receiptId, isChanged: changes.has(receiptId) }));
  };
  if (changes.size === 0) return move(database);
  return inTransaction(database, async (connection) => {
    // Receipts before orders, as whoever erases a customer.
    const moved = await move(connection);
    const changed = new Set(moved.filter(({ isChanged }) => isChanged).map(({ receiptId }) => receiptId));
    await keep(
      connection,
      inOrder.filter(({ receiptId }) => changed.has(receiptId)),
      changes,
    );
    return moved;
  });
}

/** Under a lock on the orders: nobody erases one meanwhile and misses what is kept here, and each decision is made before it or after. */
async function keep(
  connection: Connection,
  changed: readonly RepeatedOrder[],
  changes: ReadonlyMap<string, Difference[]>,
): Promise<void> {
  const orders = [...new Map(changed.map((one) => [one.orderId, one])).values()].toSorted(
    (a, b) => a.orderId - b.orderId,
  );
  const locked = await run<{ orderId: number }>(connection, LOCK, [
    orders.map(({ accountId }) => accountId),
    orders.map(({ orderId }) => orderId),
  ]);
  const isLocked = new Set(locked.map(({ orderId }) => orderId));
  await run(connection, KEEP, [
    changed.map(({ accountId }) => accountId),
    changed.map(({ orderId }) => orderId),
    changed.map(({ receiptId }) => receiptId),
    // Of one that was erased meanwhile nothing.
    changed.map(({ orderId, receiptId }) => (isLocked.has(orderId) ? JSON.stringify(changes.get(receiptId)) : null)),
  ]);
}
