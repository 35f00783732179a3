import { type Database, publishEvents } from '@orders/database';
import type { WorkerMetrics } from './metrics.ts';

/** Interval between rounds in milliseconds; the largest part of the time until an event can be read. */
export const PUBLISH_INTERVAL_MS = 200;
/** Max events of one round: of each account, so that none delays the others, and of all, so that a round ends in time. */
const LIMITS = { perAccount: 500, total: 5000 };

/** Publishes events until none is due. Another worker may do it at the same time; then this one does nothing. */
export function createPublisher(
  database: Database,
  metrics: Pick<WorkerMetrics, 'publishedEvents'>,
): (stopping: AbortSignal) => Promise<void> {
  let after = 0;
  return async (stopping) => {
    let hasMore = true;
    while (hasMore && !stopping.aborted) {
      const published = await publishEvents(database, LIMITS, after);
      metrics.publishedEvents.inc(published.count);
      hasMore = published.hasMore;
      after = published.lastAccountId ?? after;
    }
  };
}
