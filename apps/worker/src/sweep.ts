import { type Database, sweepOutbox } from '@orders/database';
import type { Producer } from '@orders/queue';
import type { Logger, OutageLog } from '@orders/runtime';
import type { WorkerMetrics } from './metrics.ts';

/** Max batches per sweep. */
const SWEEP_LIMIT = 200;
/** With this many jobs waiting, overdue receipts most likely have a job already. */
const LONG_QUEUE = 100;

/**
 * Sends wake-ups again for receipts that have waited too long, because a wake-up was lost or a worker crashed. Sends at most one wake-up
 * per batch and lease duration. Does nothing while the queue is long or unavailable.
 *
 * @returns whether it asked Postgres.
 * @throws when Postgres is unavailable.
 */
export async function sweep(deps: {
  database: Database;
  producer: Producer;
  queueOutage: OutageLog;
  leaseMs: number;
  metrics: WorkerMetrics;
  logger: Logger;
}): Promise<boolean> {
  const { database, producer, queueOutage, leaseMs, metrics, logger } = deps;
  let jobs: number;
  try {
    jobs = await countWaitingJobs(producer);
    queueOutage.recovered();
  } catch (error) {
    queueOutage.failed(error);
    return false;
  }
  if (jobs >= LONG_QUEUE) return false;
  const overdue = await sweepOutbox(database, SWEEP_LIMIT, leaseMs);
  const isDebug = logger.isDebugEnabled();
  for (const batch of overdue) {
    producer.wakeUp('bulk', batch);
    if (!isDebug) continue;
    for (const receiptId of batch.receiptIds) logger.debug('wake-up sent again', { receipt_id: receiptId });
  }
  const receipts = overdue.reduce((sum, batch) => sum + batch.receiptIds.length, 0);
  metrics.swept.inc(receipts);
  if (receipts > 0) logger.info('wake-ups sent again for overdue receipts', { batches: overdue.length, receipts });
  return true;
}

/** Wake-ups are sent on `bulk`, so only that lane must be available. Lost wake-ups may be of an unavailable `prompt` lane. */
async function countWaitingJobs(producer: Producer): Promise<number> {
  const [bulk, prompt] = await Promise.all([producer.depth('bulk'), producer.depth('prompt').catch(() => 0)]);
  return bulk + prompt;
}
