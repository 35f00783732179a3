import { type Connection, type Database, inTransaction, run } from '../connect.ts';
import { sqlstateOf } from '../database-errors.ts';
import { idIn } from '../receipts/id-in.ts';
import { type Changes, type DuplicateOrder, findChanges, lastAccepted } from './find-changes.ts';

/** A receipt that is now `duplicate`. */
export interface Duplicate {
  receiptId: string;
  /** Whether its content differs from its order. */
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
    and not exists (select from unnest(receipt_ids) as pending(id)
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

// In id order, as reviews do.
const LOCK = { name: 'lock-repeated-orders', text: lockOrders('') };
const FIND_UNLOCKED = { name: 'find-free-orders', text: lockOrders('skip locked') };

const INSERT_CHANGES = {
  name: 'keep-changes',
  // Resends with the same changes as the decided one before them take over its decision, unless a value was cut, as its rest is unknown. A
  // resend that was compared with an outdated version is not inserted.
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

// Ends the transaction, which locks receipts and orders, if this process stops; needed behind a pooler.
const SETTINGS = { idle_in_transaction_session_timeout: 10_000 };
// One locked order must not block the rest of the batch.
const LOCK_TIMEOUT = "set local lock_timeout = '1s'";
const LOCK_NOT_AVAILABLE = '55P03';
const MAX_TRIES = 4;

/** A resend was accepted between the comparison and the lock. */
class OutdatedComparison extends Error {}

/**
 * Moves receipts of existing orders to `duplicate` and stores their changes, in one transaction. Receipts whose lease is no longer ours are
 * not changed and not returned; neither are changed receipts whose order is locked for more than a second. Deletes, in the same
 * transaction, the outbox rows whose receipts were all moved, now or before.
 *
 * @param batchIds ids of the outbox rows to check.
 * @param movedBefore receipts of the same outbox rows.
 * @param duplicates about a hundred at most, as their orders and original bodies are read at once.
 * @throws {pg.DatabaseError} and nothing is written.
 */
export async function writeDuplicates(
  database: Database,
  leaseId: string,
  batchIds: readonly string[],
  movedBefore: readonly string[],
  duplicates: readonly DuplicateOrder[],
): Promise<Duplicate[]> {
  let remaining = duplicates.toSorted((a, b) => (a.receiptId < b.receiptId ? -1 : 1));
  for (let tries = 0; tries < MAX_TRIES && remaining.length > 0; tries += 1) {
    const changes = await findChanges(database, remaining);
    const batch = { leaseId, batchIds, movedBefore, duplicates: remaining, changes };
    try {
      const moved =
        changes.size === 0
          ? await move(database, batch)
          : await inTransaction(database, (connection) => moveAndStoreChanges(connection, batch), SETTINGS);
      return [...moved.keys()].map((receiptId) => ({ receiptId, isChanged: changes.has(receiptId) }));
    } catch (error) {
      if (error instanceof OutdatedComparison) continue;
      if (sqlstateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      const unlocked = await lock(database, FIND_UNLOCKED, changedOf(remaining, changes));
      remaining = remaining.filter(({ receiptId, orderId }) => !changes.has(receiptId) || unlocked.has(orderId));
    }
  }
  return [];
}

interface DuplicateBatch {
  leaseId: string;
  batchIds: readonly string[];
  movedBefore: readonly string[];
  duplicates: readonly DuplicateOrder[];
  changes: ReadonlyMap<string, Changes>;
}

/** @returns `received_at` of the moved receipts by id, as strings, since a `Date` has no microseconds. */
async function move(
  connection: Connection,
  { leaseId, batchIds, movedBefore, duplicates, changes }: DuplicateBatch,
): Promise<Map<string, string>> {
  const moved = await run<{ receiptId: string; receivedAt: string }>(connection, MOVE, [
    leaseId,
    batchIds,
    movedBefore,
    duplicates.map(({ receiptId }) => receiptId),
    duplicates.map(({ accountId }) => accountId),
    duplicates.map(({ orderId }) => orderId),
    duplicates.map(({ warnings }) => JSON.stringify(warnings)),
    duplicates.map(({ receiptId }) => changes.has(receiptId)),
  ]);
  return new Map(moved.map(({ receiptId, receivedAt }) => [receiptId, receivedAt]));
}

async function moveAndStoreChanges(connection: Connection, batch: DuplicateBatch): Promise<Map<string, string>> {
  const { duplicates, changes } = batch;
  // Receipts before orders, as in an erasure.
  const moved = await move(connection, batch);
  const changed = changedOf(duplicates, changes).filter(({ receiptId }) => moved.has(receiptId));
  await connection.pool.query(LOCK_TIMEOUT);
  await storeChanges(connection, changed, changes, moved);
  return moved;
}

function changedOf(duplicates: readonly DuplicateOrder[], changes: ReadonlyMap<string, Changes>): DuplicateOrder[] {
  return duplicates.filter(({ receiptId }) => changes.has(receiptId));
}

/** Locks the orders, so that erasures and decisions are serialized with it. */
async function storeChanges(
  connection: Connection,
  changed: readonly DuplicateOrder[],
  changes: ReadonlyMap<string, Changes>,
  receivedAt: ReadonlyMap<string, string>,
): Promise<void> {
  const locked = await lock(connection, LOCK, changed);
  const stored = await run<{ receiptId: string }>(connection, INSERT_CHANGES, [
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
