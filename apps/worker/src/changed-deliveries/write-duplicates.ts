import type { Database } from '@orders/database/connect.ts';
import { IS_LIMITED, LOCK_WAIT_MS, limitLockWait } from '@orders/database/lock-wait.ts';
import { MAY_MOVE, NORMALIZED_AT } from '@orders/database/receipts/find-receipt.ts';
import { idIn } from '@orders/database/receipts/uuids.ts';
import { type Connection, inTransaction, runToEnd } from '@orders/database/run.ts';
import { ORDERED_AGAIN } from '@orders/domain/compare-orders.ts';
import { type Changes, type DuplicateOrder, findChanges } from './find-changes.ts';
import { findOrderedAgain, reopenOrderedAgain } from './find-ordered-again.ts';
import { lockDuplicates, OutdatedComparison, storeChanges } from './store-changes.ts';

const MOVE = {
  name: 'move-duplicates',
  text: `
with ${limitLockWait('$9')},
moved as (
  update receipts r
  set state = 'duplicate', attempts = r.attempts + 1, warnings = case when i.warnings <> '[]' then i.warnings::jsonb end,
      error_code = null, normalized_at = ${NORMALIZED_AT}, updated_at = now(), lease_id = null, lease_expires_at = null
  from unnest($4::uuid[], $5::int[], $6::bigint[], $7::text[]) as i(receipt_id, account_id, order_id, warnings)
  where ${idIn('r.receipt_id', '$4')} and r.receipt_id = i.receipt_id and r.account_id = i.account_id
    and ${MAY_MOVE} and ${IS_LIMITED}
  returning r.receipt_id, r.received_at, i.account_id, i.order_id
), changed_delivery as (
  insert into changed_deliveries (account_id, order_id, receipt_id, received_at)
  select account_id, order_id, receipt_id, received_at from moved where not $8::boolean
), settled as (
  delete from outbox
  where batch_id = any($2::uuid[])
    and not exists (select from unnest(receipt_ids) as pending(id)
                    where id not in (select receipt_id from moved) and id <> all($3::uuid[]))
)
select receipt_id as "receiptId", received_at::text as "receivedAt" from moved`,
};

// A pooler keeps the connection when this process stops; this ends the transaction then, and with it the locks on receipts and orders.
const SETTINGS = { idle_in_transaction_session_timeout: 10_000 };
/** Each further try compares again what was decided between the comparison and the lock. */
const MAX_TRIES = 4;

/**
 * Moves receipts of existing orders to `duplicate`, those that differ from their order in one transaction with their changes. The last of
 * these transactions deletes the outbox rows whose receipts were all moved, now or before.
 *
 * @param leaseId null for receipts that were read without a lease.
 * @param batchIds ids of the outbox rows to check.
 * @param movedBefore receipts of the same outbox rows.
 * @param duplicates about a hundred at most, as their orders and original bodies are read at once.
 * @param lockWaitMs how long it waits for each lock, in milliseconds.
 * @returns the moved receipts; `isChanged` if their content differs from their order. A receipt is not moved if it is no longer ours, or if
 * it differs from its order and others lock that.
 * @throws {pg.DatabaseError}; those that equal their order may then be moved. `isLockWaitOver` when another transaction holds a receipt.
 */
export async function writeDuplicates(
  database: Database,
  leaseId: string | null,
  batchIds: readonly string[],
  movedBefore: readonly string[],
  duplicates: readonly DuplicateOrder[],
  lockWaitMs = LOCK_WAIT_MS,
): Promise<{ receiptId: string; isChanged: boolean }[]> {
  const moved: { receiptId: string; isChanged: boolean }[] = [];
  let remaining = duplicates.toSorted((a, b) => (a.receiptId < b.receiptId ? -1 : 1));
  for (let tries = 0; tries < MAX_TRIES && remaining.length > 0; tries += 1) {
    const changes = await findChanges(database, remaining);
    const orderedAgainIds = await findOrderedAgain(database, remaining);
    const batch = {
      leaseId,
      batchIds,
      lockWaitMs,
      movedBefore: [...movedBefore, ...moved.map(({ receiptId }) => receiptId)],
    };
    const {
      equal = [],
      changed = [],
      orderedAgain = [],
    } = Object.groupBy(remaining, ({ receiptId }) =>
      orderedAgainIds.has(receiptId) ? 'orderedAgain' : changes.has(receiptId) ? 'changed' : 'equal',
    );
    if (equal.length > 0) {
      const ids = [...(await move(database, batch, equal, false)).keys()];
      batch.movedBefore.push(...ids);
      moved.push(...ids.map((receiptId) => ({ receiptId, isChanged: false })));
    }
    remaining = [];
    // One transaction for each order that is ordered again, as it changes the order.
    for (const group of [changed, ...orderedAgain.map((one) => [one])].filter(({ length }) => length > 0)) {
      try {
        const isOrderedAgain = orderedAgainIds.has(group[0]?.receiptId ?? '');
        const ids = await inTransaction(
          database,
          (open) => moveChanged(open, batch, group, changes, isOrderedAgain),
          SETTINGS,
        );
        batch.movedBefore.push(...ids);
        moved.push(...ids.map((receiptId) => ({ receiptId, isChanged: true })));
      } catch (error) {
        if (!(error instanceof OutdatedComparison)) throw error;
        remaining.push(...group);
      }
    }
  }
  return moved;
}

interface MoveOptions {
  leaseId: string | null;
  batchIds: readonly string[];
  movedBefore: readonly string[];
  lockWaitMs: number;
}

/** @returns `received_at` of the moved receipts by id, as strings, since a `Date` has no microseconds. */
async function move(
  connection: Connection,
  { leaseId, batchIds, movedBefore, lockWaitMs }: MoveOptions,
  duplicates: readonly DuplicateOrder[],
  isChanged: boolean,
): Promise<Map<string, string>> {
  const moved = await runToEnd<{ receiptId: string; receivedAt: string }>(connection, MOVE, [
    leaseId,
    batchIds,
    movedBefore,
    duplicates.map(({ receiptId }) => receiptId),
    duplicates.map(({ accountId }) => accountId),
    duplicates.map(({ orderId }) => orderId),
    duplicates.map(({ warnings }) => JSON.stringify(warnings)),
    isChanged,
    lockWaitMs,
  ]);
  return new Map(moved.map(({ receiptId, receivedAt }) => [receiptId, receivedAt]));
}

/**
 * @param isOrderedAgain whether `changed` is one receipt, of an order that is ordered again.
 * @returns the ids of the moved receipts.
 */
async function moveChanged(
  connection: Connection,
  batch: MoveOptions,
  changed: readonly DuplicateOrder[],
  changes: ReadonlyMap<string, Changes>,
  isOrderedAgain: boolean,
): Promise<string[]> {
  const locked = await lockDuplicates(connection, batch.leaseId, changed, isOrderedAgain);
  const free = changed.filter(({ receiptId }) => locked.has(receiptId));
  if (free.length === 0) return [];
  // The order was cancelled anew, or somebody reopened it, before it was locked.
  if (isOrderedAgain && (await findOrderedAgain(connection, free)).size < free.length) throw new OutdatedComparison();
  const receivedAt = await move(connection, batch, free, true);
  const stored = free.map((duplicate) => {
    const { acceptedId = null, differences = [] } = changes.get(duplicate.receiptId) ?? {};
    // No changes for an order that was erased meanwhile.
    const isErased = locked.get(duplicate.receiptId)?.isErased !== false;
    return {
      ...duplicate,
      receivedAt: receivedAt.get(duplicate.receiptId) as string,
      differences: isErased ? null : isOrderedAgain ? [ORDERED_AGAIN, ...differences] : differences,
      acceptedId,
    };
  });
  await storeChanges(connection, stored);
  if (isOrderedAgain) for (const one of free) await reopenOrderedAgain(connection, one);
  return [...receivedAt.keys()];
}
