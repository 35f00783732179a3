import type { Database } from '@orders/database/connect.ts';
import type { LowerBound } from '@orders/database/lower-bound.ts';
import { isReachable } from '@orders/database/schema-state.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import { LANES, type WakeUp } from '@orders/queue/wake-up.ts';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import type { Logger, OutageLog } from '@orders/runtime/observability/logger.ts';
import { countReceipts, MAX_RECEIPTS } from './coalesce-wake-ups.ts';
import type { WorkerMetrics } from './metrics.ts';
import { settleBatch, sweepOutbox } from './receipts/outbox.ts';

/** One in so many sweeps looks for rows that appeared late. */
export const SWEEPS_PER_FULL = 10;
/** Max outbox rows that are taken at once. */
const MAX_ROWS = 100;
/** With this many jobs waiting, most overdue receipts have a job, which another consumer is about to take. */
const LONG_QUEUE = 100;

interface SweepDeps {
  database: Database;
  /** Of what is due in the outbox. */
  bound: LowerBound;
  producer: Pick<Producer, 'depth'>;
  processWakeUps: (wakeUps: WakeUp[]) => Promise<void>;
  queueOutage: OutageLog;
  leaseMs: number;
  metrics: Pick<WorkerMetrics, 'swept'>;
  logger: Logger;
}

/**
 * Processes receipts that have waited too long, because a wake-up was lost, a worker crashed or the queue is unavailable. Needs no queue.
 * Goes on while there are more. While the queue is long, it takes one round only, with the accounts in turn, so that nobody's lost
 * wake-up waits for the backlog of others.
 *
 * @throws when Postgres is unavailable.
 */
export async function sweep(deps: SweepDeps, stopping: AbortSignal): Promise<void> {
  const { database, bound, leaseMs, metrics, logger } = deps;
  const onlyOneRound = await isQueueLong(deps);
  for (let rows = MAX_ROWS; rows === MAX_ROWS && !stopping.aborted; ) {
    const overdue = await sweepOutbox(database, MAX_ROWS, leaseMs, bound);
    const receipts = countReceipts(overdue);
    if (receipts > 0) logger.info('overdue receipts taken from the outbox', { batches: overdue.length, receipts });
    metrics.swept.inc(receipts);
    const chunks = chunkBySize(overdue, ({ receiptIds }) => receiptIds.length, { size: MAX_RECEIPTS });
    await processChunks(deps, chunks, stopping);
    rows = onlyOneRound ? 0 : overdue.length;
  }
}

/**
 * Receipts of a chunk that fails, or is not begun before a stop, are due again at once, so that the next sweep finds them.
 *
 * @throws the first failure; unless Postgres is unavailable, after all were tried.
 */
async function processChunks(
  { database, processWakeUps }: SweepDeps,
  chunks: readonly WakeUp[][],
  stopping: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  for (const wakeUps of chunks) {
    try {
      stopping.throwIfAborted();
      await processWakeUps(wakeUps);
    } catch (error) {
      if (!(await isReachable(database))) throw error;
      if (!stopping.aborted) failures.push(error);
      for (const { batchId } of wakeUps) await settleBatch(database, batchId, 0);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function isQueueLong({ producer, queueOutage }: SweepDeps): Promise<boolean> {
  try {
    const depths = await Promise.all(LANES.map((lane) => producer.depth(lane)));
    queueOutage.recovered();
    return depths.reduce((sum, depth) => sum + depth, 0) >= LONG_QUEUE;
  } catch (error) {
    queueOutage.failed(error);
    return false;
  }
}
