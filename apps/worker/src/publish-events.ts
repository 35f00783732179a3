import { type Database, publishEvents } from '@orders/database';
import type { WorkerMetrics } from './metrics.ts';

/** Interval between rounds in milliseconds; the largest part of the time until an event can be read. */
export const PUBLISH_INTERVAL_MS = 200;
/** Max events of each account in one round, so that a round ends soon for all. */
const MAX_EVENTS_OF_ACCOUNT = 500;

/** Publishes events until none is due. Another worker may do it at the same time; then this one does nothing. */
export async function publishDueEvents(
  database: Database,
  metrics: Pick<WorkerMetrics, 'publishedEvents'>,
  stopping: AbortSignal,
): Promise<void> {
  let hasMore = true;
  while (hasMore && !stopping.aborted) {
    const published = await publishEvents(database, MAX_EVENTS_OF_ACCOUNT);
    metrics.publishedEvents.inc(published.count);
    hasMore = published.hasMore;
  }
}
