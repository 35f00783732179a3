import type { Database } from '../../connect.ts';
import { sqlstateOf } from '../../database-errors.ts';
import { idIn } from '../../receipts/uuids.ts';
import { SQLSTATE } from '../../sqlstates.ts';
import { MAY_MOVE, NORMALIZED_AT } from '../receipts/may-move.ts';
import { type Connection, inTransaction, run } from '../run.ts';
import { type Changes, type DuplicateOrder, findChanges } from './find-changes.ts';
import { findUnlocked, OutdatedComparison, storeChanges } from './store-changes.ts';

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
      error_code = null, normalized_at = ${NORMALIZED_AT}, updated_at = now(), lease_id = null, lease_expires_at = null
  from unnest($4::uuid[], $5::int[], $6::bigint[], $7::text[], $8::boolean[])
    as i(receipt_id, account_id, order_id, warnings, is_changed)
  where ${idIn('r.receipt_id', '$4')} and r.receipt_id = i.receipt_id and r.account_id = i.account_id
    and ${MAY_MOVE}
  returning r.receipt_id, r.received_at, i.account_id, i.order_id, i.is_changed
), resend as (
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

// Ends the transaction, which locks receipts and orders, if this process stops; needed behind a pooler.
const SETTINGS = { idle_in_transaction_session_timeout: 10_000 };
const MAX_TRIES = 4;

/**
 * Moves receipts of existing orders to `duplicate` and stores their changes, in one transaction. The same transaction deletes the outbox rows
 * whose receipts were all moved, now or before.
 *
 * @param leaseId null for receipts that were read without a lease.
 * @param batchIds ids of the outbox rows to check.
 * @param movedBefore receipts of the same outbox rows.
 * @param duplicates about a hundred at most, as their orders and original bodies are read at once.
 * @returns the moved receipts. A receipt is not moved if it is no longer ours, or if it is changed and its order stays locked.
 * @throws {pg.DatabaseError} and nothing is written.
 */
export async function writeDuplicates(
  database: Database,
  leaseId: string | null,
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
      if (sqlstateOf(error) !== SQLSTATE.lockNotAvailable) throw error;
      const unlocked = await findUnlocked(database, changedOf(batch));
      remaining = remaining.filter(({ receiptId, orderId }) => !changes.has(receiptId) || unlocked.has(orderId));
    }
  }
  return [];
}

interface DuplicateBatch {
  leaseId: string | null;
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
  // Receipts before orders, as in an erasure.
  const moved = await move(connection, batch);
  const changed = changedOf(batch).filter(({ receiptId }) => moved.has(receiptId));
  await storeChanges(connection, changed, batch.changes, moved);
  return moved;
}

function changedOf({ duplicates, changes }: DuplicateBatch): DuplicateOrder[] {
  return duplicates.filter(({ receiptId }) => changes.has(receiptId));
}
