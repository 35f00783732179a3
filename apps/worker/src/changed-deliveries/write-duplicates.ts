import { isDeepStrictEqual } from 'node:util';
import type { Database } from '@orders/database/connect.ts';
import { reopenOrderedAgain } from '@orders/database/orders/write-cancelled.ts';
import { MAY_MOVE, NORMALIZED_AT } from '@orders/database/receipts/find-receipt.ts';
import { idIn } from '@orders/database/receipts/uuids.ts';
import {
  type Connection,
  IS_LIMITED,
  inTransaction,
  LOCK_WAIT_MS,
  limitLockWait,
  run,
  runToEnd,
} from '@orders/database/run.ts';
import { type Difference, FINISHED, ORDERED_AGAIN } from '@orders/domain/compare-orders.ts';
import { applyPayment, PAYMENT } from './apply-payment.ts';
import { type Changes, type DuplicateOrder, findChanges } from './find-changes.ts';
import { findVersions, type Version } from './find-versions.ts';
import { lockDuplicates, OutdatedComparison, type StoredChanges, storeChanges } from './store-changes.ts';

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
  returning r.receipt_id, r.received_at, r.modified_at, i.account_id, i.order_id
), changed_delivery as (
  insert into changed_deliveries (account_id, order_id, receipt_id, received_at, modified_at)
  select account_id, order_id, receipt_id, received_at, modified_at from moved where not $8::boolean
), settled as (
  delete from outbox
  where batch_id = any($2::uuid[])
    and not exists (select from unnest(receipt_ids) as pending(id)
                    where id not in (select receipt_id from moved) and id <> all($3::uuid[]))
)
select receipt_id as "receiptId", received_at::text as "receivedAt" from moved`,
};

const REVIEW_PAID = {
  name: 'review-paid-order',
  text: 'select review_paid_order($1::int, $2::bigint, $3::int)',
};

// A pooler keeps the connection when this process stops; this ends the transaction then, and with it the locks on receipts and orders.
const SETTINGS = { idle_in_transaction_session_timeout: 10_000 };
/** Each further try compares again what was decided between the comparison and the lock. */
const MAX_TRIES = 4;

/**
 * Moves receipts of existing orders to `duplicate`, those that differ from their order, or are versions of a platform, in one transaction with
 * what they change. The last of these transactions deletes the outbox rows whose receipts were all moved, now or before.
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
    const versions = await findVersions(database, remaining);
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
      versions.get(receiptId)?.isOrderedAgain
        ? 'orderedAgain'
        : changes.has(receiptId) || versions.has(receiptId)
          ? 'changed'
          : 'equal',
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
        const ids = await inTransaction(
          database,
          (open) => moveChanged(open, batch, group, changes, versions),
          SETTINGS,
        );
        batch.movedBefore.push(...ids.keys());
        moved.push(...[...ids].map(([receiptId, isChanged]) => ({ receiptId, isChanged })));
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

/** @returns the ids of the moved receipts, with whether they have changes. */
async function moveChanged(
  connection: Connection,
  batch: MoveOptions,
  changed: readonly DuplicateOrder[],
  changes: ReadonlyMap<string, Changes>,
  versions: ReadonlyMap<string, Version>,
): Promise<Map<string, boolean>> {
  const isVersion = changed.some(({ receiptId }) => versions.has(receiptId));
  const locked = await lockDuplicates(connection, batch.leaseId, changed, isVersion);
  const free = changed.filter(({ receiptId }) => locked.has(receiptId));
  if (free.length === 0) return new Map();
  // Another version came, or somebody decided, before the orders were locked.
  if (isVersion && !isSame(await findVersions(connection, free), versions, free)) throw new OutdatedComparison();
  const receivedAt = await move(connection, batch, free, true);
  for (const { receiptId, accountId, orderId } of free) {
    const { isOrderedAgain = false, isPaid = false, isUnpaid = false, sourceNumber } = versions.get(receiptId) ?? {};
    if (isOrderedAgain) await reopenOrderedAgain(connection, accountId, orderId, isUnpaid);
    if (isPaid) await run(connection, REVIEW_PAID, [accountId, orderId, sourceNumber]);
  }
  const stored: StoredChanges[] = [];
  /** By order, whether the newest version of this batch says another payment than the last accepted one. */
  const otherPayments = new Map<number, boolean>();
  for (const duplicate of free) {
    const { acceptedId = null, differences = [] } = changes.get(duplicate.receiptId) ?? {};
    const version = versions.get(duplicate.receiptId);
    // No changes for an order that was erased meanwhile.
    const isErased = locked.get(duplicate.receiptId)?.isErased !== false;
    const all = isErased ? [] : [...meaningOf(version), ...differences];
    const { isOutdated = false } = version ?? {};
    const isPaymentOther = all.some(({ pointer }) => pointer === PAYMENT);
    // Payment is set without a decision, so a version that says what the last accepted one says may have to set it back.
    const isPaymentBack =
      !isErased &&
      (otherPayments.get(duplicate.orderId) ?? version?.followsOtherPayment) &&
      !duplicate.absent.includes(PAYMENT);
    const source =
      version && !isOutdated && (isPaymentOther || isPaymentBack)
        ? await applyPayment(connection, duplicate, version.sourceNumber)
        : null;
    if (version && !isOutdated) otherPayments.set(duplicate.orderId, isPaymentOther);
    stored.push({
      ...duplicate,
      receivedAt: receivedAt.get(duplicate.receiptId) as string,
      differences: all.length > 0 ? all : null,
      isOutdated,
      acceptedBy: isPaymentOther && all.length === 1 ? source : null,
      hasOtherContent: !isErased && differences.length > 0,
      acceptedId,
    });
  }
  await storeChanges(connection, stored);
  return new Map(stored.map(({ receiptId, differences }) => [receiptId, differences !== null]));
}

function isSame(
  now: ReadonlyMap<string, Version>,
  before: ReadonlyMap<string, Version>,
  duplicates: readonly DuplicateOrder[],
): boolean {
  return duplicates.every(({ receiptId }) => isDeepStrictEqual(now.get(receiptId), before.get(receiptId)));
}

/** What a version says beside its content, as differences. */
function meaningOf(version: Version | undefined): Difference[] {
  if (!version || version.isOutdated) return [];
  return [...(version.isOrderedAgain ? [ORDERED_AGAIN] : []), ...(version.isFinished ? [FINISHED] : [])];
}
