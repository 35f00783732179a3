import { type Database, sweepOutbox } from '@orders/database';
import type { Producer } from '@orders/queue';
import type { Logger } from '@orders/runtime';
import type { WorkerMetrics } from './metrics.ts';

/** Batches rung for in one sweep at most. */
const SWEEP_LIMIT = 200;
/** With so many jobs waiting, what the sweeper would ring for is most likely among them. */
const LONG_QUEUE = 100;

/**
 * Rings again for receipts that have waited too long: their bell was lost, or their worker. Nothing while the queue is long, and never
 * twice for a batch within a lease.
 *
 * @throws when the lane `bulk` or Postgres does not answer.
 */
export async function sweep(deps: {
  database: Database;
  producer: Producer;
  leaseMs: number;
  metrics: WorkerMetrics;
  logger: Logger;
}): Promise<void> {
  const { database, producer, leaseMs, metrics, logger } = deps;
  // The rings of a lane that is away are those to make up for; only the one that they go by has to answer.
  const [bulk, prompt] = await Promise.all([producer.depth('bulk'), producer.depth('prompt').catch(() => 0)]);
  if (bulk + prompt >= LONG_QUEUE) return;
  const overdue = await sweepOutbox(database, SWEEP_LIMIT, leaseMs);
  const isDebug = logger.isDebugEnabled();
  for (const batch of overdue) {
    producer.wakeUp('bulk', batch);
    if (!isDebug) continue;
    for (const receiptId of batch.receiptIds) logger.debug('rang again', { receipt_id: receiptId });
  }
  const receipts = overdue.reduce((sum, batch) => sum + batch.receiptIds.length, 0);
  metrics.swept.inc(receipts);
  if (receipts > 0) logger.info('rang again for receipts that waited too long', { batches: overdue.length, receipts });
}
