import type { Database } from '@orders/database/connect.ts';
import { faultOf, SQLSTATE, sqlstateOf } from '@orders/database/database-errors.ts';
import { writeCancelled } from '@orders/database/orders/write-cancelled.ts';
import { type DuplicateReceipt, type Written, writeOrders } from '@orders/database/orders/write-orders.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import { backoff } from '@orders/runtime/concurrency/backoff.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { withSpan } from '@orders/runtime/observability/tracing.ts';
import { isolateFailure, tryEach } from './isolate-failure.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { Writable } from './normalize-receipts.ts';
import { releaseLease } from './receipts/claim-receipts.ts';
import type { RecordFailure } from './record-failure.ts';
import { writeDuplicates } from './resends/write-duplicates.ts';
import { logFields } from './trace-batch.ts';
import { wakeUpLater } from './wake-up-later.ts';
import type { WorkerBatch } from './worker-batch.ts';

/**
 * Writes the orders of one worker batch, which are sorted by when they were received. Orders that the account already has become duplicates. An
 * order that cannot be written ends `failed` or `dead` without affecting the others.
 *
 * @returns if all orders were written together, the number of receipts that are now `written` or `duplicate`; outbox rows that list no other
 * receipts are then deleted. Otherwise 0: outbox rows may remain, and the caller must settle their batches.
 * @throws when infrastructure fails.
 */
export type WriteBatch = (batch: WorkerBatch, orders: readonly Writable[]) => Promise<number>;

/** Max duplicates per transaction. The original body of each is in memory at the same time, and a body can be large. */
const MAX_DUPLICATES = 100;

/** How long a duplicate waits if its order is being changed by others, in milliseconds; longer each time, as a try reads the whole order. */
const POSTPONE_MS = { base: 100, cap: 5000 };

export function createWriteBatch(deps: {
  database: Database;
  producer: Pick<Producer, 'wakeUpLater'>;
  recordFailure: RecordFailure;
  metrics: WorkerMetrics;
  logger: Logger;
}): WriteBatch {
  const { database, producer, recordFailure, metrics, logger } = deps;

  /** Writes orders in one batch. If it fails, bisects it. @returns like `WriteBatch`. */
  async function writeTogether(batch: WorkerBatch, orders: readonly Writable[], isRetry = false): Promise<number> {
    if (orders.length === 0) return 0;
    let remaining = orders;
    try {
      const batchIds = batch.wakeUps.map(({ batchId }) => batchId);
      const { written, duplicates, cancelledIds } = await withSpan(batch.trace?.begin('write', orders.length), () =>
        writeOrders(database, batch.leaseId, batchIds, orders),
      );
      reportWritten(batch, written);
      const movedIds = written.map(({ receiptId }) => receiptId);
      // The outbox rows then remain for the caller.
      if (cancelledIds.length > 0) {
        const isMoved = new Set(movedIds);
        remaining = orders.filter(({ receiptId }) => !isMoved.has(receiptId));
        await moveCancelled(batch, remaining, cancelledIds);
      }
      for (let rest = duplicatesIn(orders, duplicates); rest.length > 0; rest = rest.slice(MAX_DUPLICATES)) {
        remaining = rest;
        // The last chunk deletes the outbox rows, as all other receipts have been moved by then.
        const outboxRows = rest.length > MAX_DUPLICATES ? [] : batchIds;
        movedIds.push(...(await moveDuplicates(batch, outboxRows, movedIds, rest.slice(0, MAX_DUPLICATES))));
      }
      metrics.batchSizes.observe(movedIds.length);
      return cancelledIds.length > 0 ? 0 : movedIds.length;
    } catch (error) {
      // Another worker has just written one of the orders. The retry finds that order.
      if (sqlstateOf(error) === SQLSTATE.uniqueViolation && !isRetry) return writeTogether(batch, remaining, true);
      await isolateFailure(database, remaining, error, {
        retryHalf: (half) => writeTogether(batch, half),
        async handleSingle(order) {
          if (faultOf(error) === 'infrastructure') throw error;
          await recordFailure(batch, order, error);
        },
      });
      return 0;
    }
  }

  /**
   * Writes orders whose cancellation is held. If it no longer is, as another receipt of the order was faster, the receipt is released
   * instead, and the sweeper finds it.
   */
  async function moveCancelled(
    batch: WorkerBatch,
    orders: readonly Writable[],
    receiptIds: readonly string[],
  ): Promise<void> {
    const ids = new Set(receiptIds);
    const cancelled = orders.filter(({ receiptId }) => ids.has(receiptId));
    const written = await withSpan(batch.trace?.begin('cancel', cancelled.length), () =>
      writeCancelled(database, batch.leaseId, cancelled),
    );
    reportWritten(batch, written);
    metrics.cancelledOrders.inc(written.length);
    for (const { receiptId } of written) ids.delete(receiptId);
    if (ids.size > 0) await releaseLease(database, [...ids], batch.leaseId);
  }

  /**
   * Moves receipts to `duplicate`. If an order is being changed by others, its receipt is released instead and soon due again.
   *
   * @returns the ids of the moved receipts.
   */
  async function moveDuplicates(
    batch: WorkerBatch,
    batchIds: readonly string[],
    movedBefore: readonly string[],
    duplicates: readonly WritableDuplicate[],
  ): Promise<string[]> {
    const moved = await withSpan(batch.trace?.begin('compare', duplicates.length), () =>
      writeDuplicates(database, batch.leaseId, batchIds, movedBefore, duplicates),
    );
    metrics.outcomes.inc({ outcome: 'duplicate' }, moved.length);
    metrics.changedDuplicates.inc(moved.filter(({ isChanged }) => isChanged).length);
    report(batch, 'duplicate', moved);
    const movedIds = new Set(moved.map(({ receiptId }) => receiptId));
    const locked = duplicates.map(({ receiptId }) => receiptId).filter((receiptId) => !movedIds.has(receiptId));
    if (locked.length > 0) {
      await releaseLease(database, locked, batch.leaseId);
      metrics.postponedDuplicates.inc(locked.length);
      const times = Math.max(...batch.wakeUps.map(({ postponements = 0 }) => postponements));
      wakeUpLater(producer, batch, locked, backoff(times, POSTPONE_MS), times + 1);
    }
    return [...movedIds];
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
    if (parts.length <= 1) return writeTogether(batch, parts[0] ?? []);
    await tryEach(parts, (part) => writeTogether(batch, part));
    return 0;
  };
}

type WritableDuplicate = Writable & DuplicateReceipt;

function duplicatesIn(orders: readonly Writable[], duplicates: readonly DuplicateReceipt[]): WritableDuplicate[] {
  if (duplicates.length === 0) return [];
  const orderIds = new Map(duplicates.map(({ receiptId, orderId }) => [receiptId, orderId]));
  return orders.flatMap((order) => {
    const orderId = orderIds.get(order.receiptId);
    return orderId === undefined ? [] : [{ ...order, orderId }];
  });
}

/** Separates the first order of each account and `source_order_id` from the later ones, which are written after it and become duplicates of it. */
function splitBySourceOrderId(orders: readonly Writable[]): { firstOrders: Writable[]; laterOrders: Writable[] } {
  const keys = new Set<string>();
  const firstOrders: Writable[] = [];
  const laterOrders: Writable[] = [];
  for (const writable of orders) {
    const key = `${writable.accountId} ${writable.order.source_order_id}`;
    (keys.has(key) ? laterOrders : firstOrders).push(writable);
    keys.add(key);
  }
  return { firstOrders, laterOrders };
}

/** Orders that failed before most likely fail again and make their batch bisect, so they are not mixed with new orders. */
function splitByAttempts(orders: readonly Writable[]): Writable[][] {
  return [orders.filter(({ attempts }) => attempts > 0), orders.filter(({ attempts }) => attempts === 0)];
}
