import type { Database } from '@orders/database/connect.ts';
import { faultOf, SQLSTATE, sqlstateOf } from '@orders/database/database-errors.ts';
import { writeCancelled } from '@orders/database/orders/write-cancelled.ts';
import { type DuplicateReceipt, type Written, writeOrders } from '@orders/database/orders/write-orders.ts';
import { isLockWaitOver, LOCK_WAIT_MS, NO_LOCK_WAIT_MS } from '@orders/database/run.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import { backoff } from '@orders/runtime/concurrency/timers.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { withSpan } from '@orders/runtime/observability/tracing.ts';
import type { DuplicateOrder } from './changed-deliveries/find-changes.ts';
import { writeDuplicates } from './changed-deliveries/write-duplicates.ts';
import { isolateFailure, tryEach } from './isolate-failure.ts';
import type { LeaseReleaser } from './lease-releaser.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { Writable } from './normalize-receipts.ts';
import type { RecordFailure } from './record-failure.ts';
import { logFields } from './trace-batch.ts';
import { wakeUpLater } from './wake-up-later.ts';
import type { WorkerBatch } from './worker-batch.ts';

/**
 * Writes the orders of one worker batch, which are sorted by when they were received. Orders that the account already has become duplicates. An
 * order that cannot be written ends `failed` or `dead` without affecting the others. One whose receipt, key or order another transaction
 * locks is put off, and uses up no attempt.
 *
 * @throws when infrastructure fails.
 */
export type WriteBatch = (batch: WorkerBatch, orders: readonly Writable[]) => Promise<BatchResult>;

/**
 * `moved`: of orders that were written together, how many receipts are now `written` or `duplicate`; outbox rows that list no others are
 * deleted. Otherwise outbox rows may remain, and the caller must settle their batches.
 */
export type BatchResult = { outboxRowsDeleted: true; moved: number } | { outboxRowsDeleted: false };

export const OUTBOX_ROWS_REMAIN: BatchResult = { outboxRowsDeleted: false };

/** Max duplicates per transaction. The original body of each is in memory at the same time, and a body can be large. */
const MAX_DUPLICATES = 100;

/** With this many locked orders of an account in a batch, its others are put off too, as finding out each takes some statements. */
const MAX_LOCKED = 10;

/** How long a receipt waits if others lock what it needs, in milliseconds; longer each time, as each try costs statements. */
const POSTPONE_MS = { base: 100, cap: 5000 };

export function createWriteBatch(deps: {
  database: Database;
  producer: Pick<Producer, 'wakeUpLater'>;
  leaseReleaser: Pick<LeaseReleaser, 'release'>;
  recordFailure: RecordFailure;
  metrics: WorkerMetrics;
  logger: Logger;
}): WriteBatch {
  const { database, producer, leaseReleaser, recordFailure, metrics, logger } = deps;

  /** Writes orders in one batch. If it fails, bisects it. @returns like `WriteBatch`. */
  async function writeTogether(
    batch: WorkerBatch,
    all: readonly Writable[],
    locked: Locked,
    { isRetry = false, lockWaitMs = LOCK_WAIT_MS } = {},
  ): Promise<BatchResult> {
    const orders = putOffBehind(locked, all);
    if (orders.length === 0) return OUTBOX_ROWS_REMAIN;
    let remaining = orders;
    try {
      const batchIds = batch.wakeUps.map(({ batchId }) => batchId);
      const { written, duplicates, cancelledIds } = await withSpan(batch.trace?.begin('write', orders.length), () =>
        writeOrders(database, batch.leaseId, batchIds, orders, lockWaitMs),
      );
      reportWritten(batch, written);
      const movedIds = written.map(({ receiptId }) => receiptId);
      if (cancelledIds.length > 0) {
        const isMoved = new Set(movedIds);
        remaining = orders.filter(({ receiptId }) => !isMoved.has(receiptId));
        await writeAsCancelled(batch, remaining, cancelledIds, lockWaitMs);
      }
      for (let rest = duplicatesIn(orders, duplicates); rest.length > 0; rest = rest.slice(MAX_DUPLICATES)) {
        remaining = rest;
        // The last chunk deletes the outbox rows, as all other receipts have been moved by then.
        const outboxRows = rest.length > MAX_DUPLICATES ? [] : batchIds;
        const chunk = rest.slice(0, MAX_DUPLICATES);
        const ids = await moveDuplicates(batch, outboxRows, movedIds, chunk, lockWaitMs);
        movedIds.push(...ids);
        const isMoved = new Set(ids);
        for (const { receiptId } of chunk) if (!isMoved.has(receiptId)) locked.receiptIds.add(receiptId);
      }
      metrics.batchSizes.observe(movedIds.length);
      return cancelledIds.length > 0 ? OUTBOX_ROWS_REMAIN : { outboxRowsDeleted: true, moved: movedIds.length };
    } catch (error) {
      // Another worker has just written one of the orders. The retry finds that order.
      if (sqlstateOf(error) === SQLSTATE.uniqueViolation && !isRetry)
        return writeTogether(batch, remaining, locked, { isRetry: true, lockWaitMs });
      const isLocked = isLockWaitOver(error);
      // By account, as the locked ones most often are of one, which is then isolated in fewer steps.
      const failing = isLocked ? remaining.toSorted((a, b) => a.accountId - b.accountId) : remaining;
      await isolateFailure(database, failing, error, {
        retryHalf: (half) =>
          writeTogether(batch, half, locked, { lockWaitMs: isLocked ? NO_LOCK_WAIT_MS : lockWaitMs }),
        async handleSingle(order) {
          if (isLocked) {
            locked.receiptIds.add(order.receiptId);
            locked.orders.push(order);
            return;
          }
          if (faultOf(error) === 'infrastructure') throw error;
          await recordFailure(batch, order, error);
        },
      });
      return OUTBOX_ROWS_REMAIN;
    }
  }

  /**
   * Writes orders whose cancellation is held. If it no longer is, as another receipt of the order was faster, the receipt is released
   * instead, and the sweeper finds it.
   */
  async function writeAsCancelled(
    batch: WorkerBatch,
    orders: readonly Writable[],
    receiptIds: readonly string[],
    lockWaitMs: number,
  ): Promise<void> {
    const ids = new Set(receiptIds);
    const cancelled = orders.filter(({ receiptId }) => ids.has(receiptId));
    const written = await withSpan(batch.trace?.begin('cancel', cancelled.length), () =>
      writeCancelled(database, batch.leaseId, cancelled, lockWaitMs),
    );
    reportWritten(batch, written);
    metrics.cancelledOrders.inc(written.length);
    for (const { receiptId } of written) ids.delete(receiptId);
    if (ids.size > 0) await leaseReleaser.release(batch.leaseId, [...ids]);
  }

  /** Moves receipts to `duplicate`. @returns the ids of the moved ones; the orders of the others are being changed by others. */
  async function moveDuplicates(
    batch: WorkerBatch,
    batchIds: readonly string[],
    movedBefore: readonly string[],
    duplicates: readonly DuplicateOrder[],
    lockWaitMs: number,
  ): Promise<string[]> {
    const moved = await withSpan(batch.trace?.begin('compare', duplicates.length), () =>
      writeDuplicates(database, batch.leaseId, batchIds, movedBefore, duplicates, lockWaitMs),
    );
    metrics.outcomes.inc({ outcome: 'duplicate' }, moved.length);
    metrics.changedDuplicates.inc(moved.filter(({ isChanged }) => isChanged).length);
    report(batch, 'duplicate', moved);
    return moved.map(({ receiptId }) => receiptId);
  }

  /** Releases receipts that others lock. They are soon due again, and those that were put off more often are due later. */
  async function postpone({ leaseId, wakeUps }: WorkerBatch, receiptIds: readonly string[]): Promise<void> {
    if (receiptIds.length === 0) return;
    await leaseReleaser.release(leaseId, receiptIds);
    metrics.postponedReceipts.inc(receiptIds.length);
    for (const [times, alike] of Map.groupBy(wakeUps, ({ postponements = 0 }) => postponements))
      wakeUpLater(producer, { wakeUps: alike }, receiptIds, backoff(times, POSTPONE_MS), times + 1);
  }

  function reportWritten(batch: WorkerBatch, written: readonly Written[]): void {
    for (const { seconds } of written) metrics.writtenSeconds.observe(seconds);
    metrics.outcomes.inc({ outcome: 'written' }, written.length);
    report(batch, 'written', written);
  }

  function report(
    { trace }: WorkerBatch,
    state: string,
    moved: readonly { receiptId: string; orderId?: number }[],
  ): void {
    // winston formats a line before it checks the level.
    const isDebug = logger.isDebugEnabled();
    if (!isDebug && !trace) return;
    for (const { receiptId, orderId } of moved) {
      if (isDebug) logger.debug(`receipt ${state}`, { ...logFields(receiptId, trace), order_id: orderId ?? null });
      trace?.recordOutcome(receiptId, state, orderId === undefined ? {} : { 'orders.order_id': orderId });
    }
  }

  return async (batch, orders) => {
    const { firstOrders, laterOrders } = splitBySourceOrderId(orders);
    const parts = [...splitByAttempts(firstOrders), laterOrders].filter((part) => part.length > 0);
    const locked: Locked = { receiptIds: new Set(), orders: [] };
    let result: BatchResult = OUTBOX_ROWS_REMAIN;
    await tryEach(parts, async (part) => {
      result = await writeTogether(batch, part, locked);
    });
    await postpone(batch, [...locked.receiptIds]);
    return parts.length > 1 ? OUTBOX_ROWS_REMAIN : result;
  };
}

/** What is put off, as others lock it. */
interface Locked {
  receiptIds: Set<string>;
  /** Those among them for whose receipt or key a write waited in vain. */
  orders: Writable[];
}

/** Puts off later deliveries of locked orders, which must not overtake them, and those beyond `MAX_LOCKED`. @returns the other orders. */
function putOffBehind(locked: Locked, orders: readonly Writable[]): readonly Writable[] {
  if (locked.orders.length === 0) return orders;
  const keys = new Set(locked.orders.map(keyOf));
  const byAccount = Map.groupBy(locked.orders, ({ accountId }) => accountId);
  return orders.filter((order) => {
    const isBehind = keys.has(keyOf(order)) || (byAccount.get(order.accountId)?.length ?? 0) >= MAX_LOCKED;
    if (isBehind) locked.receiptIds.add(order.receiptId);
    return !isBehind;
  });
}

function duplicatesIn(
  orders: readonly Writable[],
  duplicates: readonly DuplicateReceipt[],
): (Writable & DuplicateOrder)[] {
  if (duplicates.length === 0) return [];
  const orderIds = new Map(duplicates.map(({ receiptId, orderId }) => [receiptId, orderId]));
  return orders.flatMap((order) => {
    const orderId = orderIds.get(order.receiptId);
    return orderId === undefined ? [] : [{ ...order, orderId }];
  });
}

function keyOf({ accountId, order }: Writable): string {
  return `${accountId} ${order.source_order_id}`;
}

/** Separates the first order of each account and `source_order_id` from the later ones, which are written after it and become duplicates of it. */
function splitBySourceOrderId(orders: readonly Writable[]): { firstOrders: Writable[]; laterOrders: Writable[] } {
  const keys = new Set<string>();
  const firstOrders: Writable[] = [];
  const laterOrders: Writable[] = [];
  for (const writable of orders) {
    const key = keyOf(writable);
    (keys.has(key) ? laterOrders : firstOrders).push(writable);
    keys.add(key);
  }
  return { firstOrders, laterOrders };
}

/** Orders that failed before most likely fail again and make their batch bisect, so they are not mixed with new orders. */
function splitByAttempts(orders: readonly Writable[]): Writable[][] {
  return [orders.filter(({ attempts }) => attempts > 0), orders.filter(({ attempts }) => attempts === 0)];
}
