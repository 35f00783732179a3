import { type Connection, type Database, inTransaction, run } from '../connect.ts';
import { sqlstateOf } from '../database-errors.ts';
import { idIn } from '../receipts/id-in.ts';
import { type Changes, findChanges, lastAccepted, type RepeatedOrder } from './find-changes.ts';

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
  where ${idIn('r.receipt_id', '$4')} and r.receipt_id = i.receipt_id and r.account_id = i.account_id
    and r.lease_id = $1::uuid and r.state = 'normalized'
  returning r.receipt_id, r.received_at, i.account_id, i.order_id, i.is_changed
), kept as (
  insert into resends (account_id, order_id, receipt_id, received_at)
  select account_id, order_id, receipt_id, received_at from moved where not is_changed
), settled as (
  delete from outbox
  where batch_id = any($2::uuid[])
    and not exists (select from unnest(receipt_ids) as promised(id)
                    where id not in (select receipt_id from moved) and id <> all($3::uuid[]))
)
select receipt_id as "receiptId", received_at::text as "receivedAt" from moved`,
};

const lockOrders = (how: string) => `
select o.order_id as "orderId", o.erased_at is not null as "isErased"
from unnest($1::int[], $2::bigint[]) as i(account_id, order_id)
cross join lateral (
  select order_id, erased_at from orders
  where account_id = i.account_id and order_id >= i.order_id and order_id <= i.order_id
  order by order_id limit 1
  for share ${how}
) as o`;

// In the order of their ids, as those who review them do.
const LOCK = { name: 'lock-repeated-orders', text: lockOrders('') };
const FIND_FREE = { name: 'find-free-orders', text: lockOrders('skip locked') };

const KEEP = {
  name: 'keep-changes',
  // Several of one order at once: one takes over a decision if those between it and the decided one say the same, too. Of what was cut
  // nobody knows that. None is kept of what was compared with something else than the sender's last word by now.
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

// Of a process that is stopped in between, also behind a pooler: it holds receipts and orders.
const SETTINGS = { idle_in_transaction_session_timeout: 10_000 };
// One order that somebody keeps locked must not hold up those that came with it.
const LOCK_TIMEOUT = "set local lock_timeout = '1s'";
const LOCK_NOT_AVAILABLE = '55P03';
const MAX_TRIES = 4;

/** A resend was accepted between a comparison and the lock. */
class ComparedTooSoon extends Error {}

/**
 * Moves receipts whose order the account has already to `duplicate`, and keeps what they say differently from it: one transaction, all or
 * nothing. A receipt whose lease is no longer ours is left alone and not returned. So is one that says something else than an order that
 * somebody holds for longer than a second. Of the promises in the outbox those go in the same transaction of which each receipt was moved,
 * by this or before.
 *
 * @param batchIds names the promises that may be kept by this.
 * @param movedBefore receipts of the same promises.
 * @param repeated a hundred or so: their orders, and what was first sent of them, are read at once.
 * @throws {pg.DatabaseError} and nothing is written.
 */
export async function writeDuplicates(
  database: Database,
  leaseId: string,
  batchIds: readonly string[],
  movedBefore: readonly string[],
  repeated: readonly RepeatedOrder[],
): Promise<Duplicate[]> {
  let left = repeated.toSorted((a, b) => (a.receiptId < b.receiptId ? -1 : 1));
  for (let tries = 0; tries < MAX_TRIES && left.length > 0; tries += 1) {
    const changes = await findChanges(database, left);
    const duplicates = { leaseId, batchIds, movedBefore, repeated: left, changes };
    try {
      const moved =
        changes.size === 0
          ? await move(database, duplicates)
          : await inTransaction(database, (connection) => moveAndKeep(connection, duplicates), SETTINGS);
      return [...moved.keys()].map((receiptId) => ({ receiptId, isChanged: changes.has(receiptId) }));
    } catch (error) {
      if (error instanceof ComparedTooSoon) continue;
      if (sqlstateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      const free = await lock(database, FIND_FREE, changedOf(left, changes));
      left = left.filter(({ receiptId, orderId }) => !changes.has(receiptId) || free.has(orderId));
    }
  }
  return [];
}

interface Duplicates {
  leaseId: string;
  batchIds: readonly string[];
  movedBefore: readonly string[];
  repeated: readonly RepeatedOrder[];
  changes: ReadonlyMap<string, Changes>;
}

/** @returns those that were moved, each with the time it was received at: as text, since a `Date` has no microseconds. */
async function move(
  connection: Connection,
  { leaseId, batchIds, movedBefore, repeated, changes }: Duplicates,
): Promise<Map<string, string>> {
  const moved = await run<{ receiptId: string; receivedAt: string }>(connection, MOVE, [
    leaseId,
    batchIds,
    movedBefore,
    repeated.map(({ receiptId }) => receiptId),
    repeated.map(({ accountId }) => accountId),
    repeated.map(({ orderId }) => orderId),
    repeated.map(({ warnings }) => JSON.stringify(warnings)),
    repeated.map(({ receiptId }) => changes.has(receiptId)),
  ]);
  return new Map(moved.map(({ receiptId, receivedAt }) => [receiptId, receivedAt]));
}

async function moveAndKeep(connection: Connection, duplicates: Duplicates): Promise<Map<string, string>> {
  const { repeated, changes } = duplicates;
  // Receipts before orders, as whoever erases a customer.
  const moved = await move(connection, duplicates);
  const changed = changedOf(repeated, changes).filter(({ receiptId }) => moved.has(receiptId));
  await connection.pool.query(LOCK_TIMEOUT);
  await keep(connection, changed, changes, moved);
  return moved;
}

function changedOf(repeated: readonly RepeatedOrder[], changes: ReadonlyMap<string, Changes>): RepeatedOrder[] {
  return repeated.filter(({ receiptId }) => changes.has(receiptId));
}

/** Under a lock on the orders: nobody erases one meanwhile and misses what is kept here, and each decision is made before it or after. */
async function keep(
  connection: Connection,
  changed: readonly RepeatedOrder[],
  changes: ReadonlyMap<string, Changes>,
  receivedAt: ReadonlyMap<string, string>,
): Promise<void> {
  const locked = await lock(connection, LOCK, changed);
  const kept = await run<{ receiptId: string }>(connection, KEEP, [
    changed.map(({ accountId }) => accountId),
    changed.map(({ orderId }) => orderId),
    changed.map(({ receiptId }) => receiptId),
    // Of one that was erased meanwhile nothing.
    changed.map(({ orderId, receiptId }) =>
      locked.get(orderId)?.isErased === false ? JSON.stringify(changes.get(receiptId)?.differences) : null,
    ),
    changed.map(({ receiptId }) => changes.get(receiptId)?.acceptedId ?? null),
    changed.map(({ receiptId }) => receivedAt.get(receiptId)),
  ]);
  if (kept.length < changed.length) throw new ComparedTooSoon();
}

/** @returns those that were locked, by their ids. */
async function lock(
  connection: Connection,
  how: typeof LOCK,
  repeated: readonly RepeatedOrder[],
): Promise<Map<number, { isErased: boolean }>> {
  const orders = [...new Map(repeated.map((one) => [one.orderId, one])).values()].toSorted(
    (a, b) => a.orderId - b.orderId,
  );
  const rows = await run<{ orderId: number; isErased: boolean }>(connection, how, [
    orders.map(({ accountId }) => accountId),
    orders.map(({ orderId }) => orderId),
  ]);
  return new Map(rows.map((row) => [row.orderId, row]));
}
