import { MAY_MOVE } from '../receipts/find-receipt.ts';
import { idIn } from '../receipts/uuids.ts';
import { type Connection, IS_LIMITED, inTransaction, LOCK_WAIT_MS, limitLockWait, run, runToEnd } from '../run.ts';
import {
  INPUT,
  inputOf,
  LOCK_WAIT,
  ORDER_COLUMNS,
  recordWritten,
  setWritten,
  type WritableOrder,
  type Written,
} from './write-orders.ts';

const WRITE = {
  name: 'write-cancelled-orders',
  // Locks receipts before orders, as in an erasure. Only receipts that are ours take their held cancellation, and only they are moved.
  text: `
with ${limitLockWait(LOCK_WAIT)},
input as materialized (
  select i.* from ${INPUT}
), ours as materialized (
  select r.receipt_id, r.account_id from receipts r
  where ${idIn('r.receipt_id', '$2')} and ${MAY_MOVE} and ${IS_LIMITED}
  order by r.receipt_id for update
), taken as materialized (
  -- In key order, so that two workers do not deadlock.
  select i.receipt_id, t.* from (
    select i.* from input i join ours on ours.receipt_id = i.receipt_id and ours.account_id = i.account_id
    order by i.account_id, i.source_order_id
  ) as i
  cross join lateral take_held_cancellation(i.account_id, i.source_order_id) as t
), moved as (
  update receipts r ${setWritten('t.order_id')}
  from input i
  join taken t on t.receipt_id = i.receipt_id
  where ${idIn('r.receipt_id', '$2')} and r.receipt_id = i.receipt_id and r.account_id = i.account_id
  returning i.*, r.order_id, r.channel, r.received_at, r.source_number, r.modified_at as platform_modified_at,
            coalesce(r.delivery_kind = 'test', false) as is_test, t.cancelled_by, t.cancelled_at, t.reason, t.platform_cancelled_at,
            coalesce(r.modified_at > t.platform_cancelled_at and r.delivery_kind <> 'finished' and t.cancelled_by like 'source:%', false)
              as is_ordered_again,
            coalesce(r.delivery_kind = 'unpaid', false) as is_unpaid
), created as (
  insert into orders (${ORDER_COLUMNS}, review_state, reviewed_by, reviewed_at, review_reason, platform_cancelled_at)
  select ${ORDER_COLUMNS}, 'cancelled', cancelled_by, cancelled_at, reason, platform_cancelled_at
  from moved
), recorded as (${recordWritten('$3')}
), audited as (
  insert into audit_events (account_id, at, actor, action, subject, details)
  select account_id, clock_timestamp(), cancelled_by, 'order_cancelled', 'order:' || order_id,
         case when reason is not null then jsonb_build_object('reason', reason) end
  from moved
)
select receipt_id as "receiptId", order_id as "orderId", date_part('epoch', clock_timestamp() - received_at) as seconds,
       account_id as "accountId", is_ordered_again as "isOrderedAgain", is_unpaid as "isUnpaid"
from moved`,
};

const REOPEN = { name: 'reopen-ordered-again', text: 'select reopen_ordered_again($1::int, $2::bigint, $3::boolean)' };

/**
 * Reopens an order that its platform sent as one that is wanted, after it had cancelled it: the order needs review, or waits until it is paid, or
 * the request to cancel it is open again. Must be called under the lock of the order.
 */
export async function reopenOrderedAgain(
  connection: Connection,
  accountId: number,
  orderId: number,
  isUnpaid: boolean,
): Promise<void> {
  await run(connection, REOPEN, [accountId, orderId, isUnpaid]);
}

/**
 * Writes orders whose cancellation is held: they take its place and are cancelled, with audit, under the name of its requester. Those that their
 * platform changed since are reopened. Their receipts are moved to `written` in the same transaction. Outbox rows are left to `settleBatch`.
 *
 * @returns the written ones. A receipt is not changed if it is no longer ours or the cancellation is no longer held.
 * @param lockWaitMs how long it waits for each lock, in milliseconds.
 * @throws {pg.DatabaseError} and nothing is written; `isLockWaitOver` when another transaction holds a receipt or a held cancellation.
 */
export async function writeCancelled(
  database: Connection,
  leaseId: string | null,
  orders: readonly WritableOrder[],
  lockWaitMs = LOCK_WAIT_MS,
): Promise<Written[]> {
  return inTransaction(database, async (transaction) => {
    type Row = Written & { accountId: number; isOrderedAgain: boolean; isUnpaid: boolean };
    const rows = await runToEnd<Row>(transaction, WRITE, [leaseId, ...inputOf(orders, lockWaitMs)]);
    for (const { accountId, orderId, isOrderedAgain, isUnpaid } of rows)
      if (isOrderedAgain) await reopenOrderedAgain(transaction, accountId, orderId, isUnpaid);
    return rows;
  });
}
