import {
  type Database,
  faultOf,
  type Repeat,
  releaseLease,
  sqlstateOf,
  type Written,
  writeDuplicates,
  writeOrders,
} from '@orders/database';
import { type Logger, withSpan } from '@orders/runtime';
import { isolateFailure, tryEach } from './isolate-failure.ts';
import { type Lease, logFields } from './lease.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { Writable } from './normalize-claimed.ts';
import type { RecordFailure } from './record-failure.ts';

/**
 * Writes the orders of one lease, which come in the order in which they were received, and ends as duplicates those that the accounts have.
 * What cannot be written ends `failed` or `dead`, alone.
 *
 * @returns how many receipts were moved, if that did for all of them at once, and for their promises; else 0.
 * @throws when infrastructure fails.
 */
export type WriteBatch = (lease: Lease, orders: readonly Writable[]) => Promise<number>;

/** SQLSTATE of a key that is taken (PostgreSQL, appendix A). */
const UNIQUE_VIOLATION = '23505';
/** Duplicates ended together: what was first sent of each is in memory at once, as large as a body may be. */
const MAX_CONCURRENT_BATCHES = 100;

/** A `WriteBatch` that writes to this database and hands what fails to `recordFailure`. */
export function createWriteBatch(deps: {
  database: Database;
  recordFailure: RecordFailure;
  metrics: WorkerMetrics;
  logger: Logger;
}): WriteBatch {
  const { database, recordFailure, metrics, logger } = deps;

  async function writeTogether(lease: Lease, orders: readonly Writable[], isSecondTry = false): Promise<number> {
    if (orders.length === 0) return 0;
    let left = orders;
    try {
      const batchIds = lease.wakeUps.map(({ batchId }) => batchId);
      const { written, repeats } = await withSpan(lease.trace?.begin('write', orders.length), () =>
        writeOrders(database, lease.id, batchIds, orders),
      );
      reportWritten(lease, written);
      const movedIds = written.map(({ receiptId }) => receiptId);
      const repeated = repeatedOf(orders, repeats);
      for (let from = 0; from < repeated.length; from += MAX_CONCURRENT_BATCHES) {
        left = repeated.slice(from);
        // The last takes the promises of all along.
        const outboxRows = left.length > MAX_CONCURRENT_BATCHES ? [] : batchIds;
        movedIds.push(
          ...(await endDuplicates(lease, outboxRows, movedIds, repeated.slice(from, from + MAX_CONCURRENT_BATCHES))),
        );
      }
      metrics.batchSizes.observe(movedIds.length);
      return movedIds.length;
    } catch (error) {
      // Another worker has just written one of them; looked up again, it is found.
      if (sqlstateOf(error) === UNIQUE_VIOLATION && !isSecondTry) return writeTogether(lease, left, true);
      await isolateFailure(database, left, error, {
        each: (part) => writeTogether(lease, part),
        async alone(only) {
          if (faultOf(error) === 'infrastructure') throw error;
          await recordFailure(lease, only, error);
        },
      });
      return 0;
    }
  }

  /** Those that it leaves go back, for the sweeper: their order is held by somebody. @returns those that it moved. */
  async function endDuplicates(
    lease: Lease,
    batchIds: readonly string[],
    movedBefore: readonly string[],
    repeated: readonly RepeatedWritable[],
  ): Promise<string[]> {
    const duplicates = await withSpan(lease.trace?.begin('compare', repeated.length), () =>
      writeDuplicates(database, lease.id, batchIds, movedBefore, repeated),
    );
    metrics.outcomes.inc({ outcome: 'duplicate' }, duplicates.length);
    metrics.changedDuplicates.inc(duplicates.filter(({ isChanged }) => isChanged).length);
    report(lease, 'duplicate', duplicates);
    const moved = new Set(duplicates.map(({ receiptId }) => receiptId));
    const left = repeated.map(({ receiptId }) => receiptId).filter((receiptId) => !moved.has(receiptId));
    if (left.length > 0) await releaseLease(database, left, lease.id);
    return [...moved];
  }

  function reportWritten(lease: Lease, written: readonly Written[]): void {
    for (const { seconds } of written) metrics.writtenSeconds.observe(seconds);
    metrics.outcomes.inc({ outcome: 'written' }, written.length);
    report(lease, 'written', written);
  }

  function report({ trace }: Lease, state: string, moved: readonly { receiptId: string; orderId?: number }[]): void {
    // winston formats a line before it asks whether anybody wants it.
    const isDebug = logger.isDebugEnabled();
    if (!isDebug && !trace) return;
    for (const { receiptId, orderId } of moved) {
      if (isDebug) logger.debug(`receipt ${state}`, { ...logFields(receiptId, trace), order_id: orderId ?? null });
      trace?.moved(receiptId, state, orderId === undefined ? {} : { 'orders.order_id': orderId });
    }
  }

  return async (lease, orders) => {
    const { firsts, repeats } = splitRepeats(orders);
    const parts = [...splitFailed(firsts), repeats].filter((part) => part.length > 0);
    if (parts.length <= 1) return writeTogether(lease, parts[0] ?? []);
    await tryEach(parts, (part) => writeTogether(lease, part));
    return 0;
  };
}

type RepeatedWritable = Writable & Repeat;

function repeatedOf(orders: readonly Writable[], repeats: readonly Repeat[]): RepeatedWritable[] {
  if (repeats.length === 0) return [];
  const earlier = new Map(repeats.map(({ receiptId, orderId }) => [receiptId, orderId]));
  return orders.flatMap((one) => {
    const orderId = earlier.get(one.receiptId);
    return orderId === undefined ? [] : [{ ...one, orderId }];
  });
}

/** Of the orders of one key the first received is written before the others: those then find it and are duplicates. */
function splitRepeats(orders: readonly Writable[]): { firsts: Writable[]; repeats: Writable[] } {
  const keys = new Set<string>();
  const firsts: Writable[] = [];
  const repeats: Writable[] = [];
  for (const one of orders) {
    const key = `${one.accountId} ${one.order.source_order_id}`;
    (keys.has(key) ? repeats : firsts).push(one);
    keys.add(key);
  }
  return { firsts, repeats };
}

/**
 * What failed before most likely fails again, and would have all that it came with written by halves: a few orders that cannot be written,
 * each tried many times, would slow everything down.
 */
function splitFailed(orders: readonly Writable[]): Writable[][] {
  return [orders.filter(({ attempts }) => attempts > 0), orders.filter(({ attempts }) => attempts === 0)];
}
