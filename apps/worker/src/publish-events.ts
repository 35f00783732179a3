import type { Database } from '@orders/database/connect.ts';
import type { WorkerMetrics } from './metrics.ts';
import { publishEvents } from './publish-events-sql.ts';

/** Interval between rounds in milliseconds; the largest part of the time until an event can be read. */
export const PUBLISH_INTERVAL_MS = 200;
/** Max events of one round: of each account, so that none delays the others, and of all, so that a round ends in time. */
const LIMITS = { perAccount: 500, total: 2000 };
/** After a round that failed, the limits are divided: its events may be so large that the statement takes too long. */
const MAX_DIVISOR = LIMITS.total;

/** Publishes events until none is due. Another worker may do it at the same time; then this one does nothing. */
export function createPublisher(
  database: Database,
  metrics: Pick<WorkerMetrics, 'publishedEvents'>,
): (stopping: AbortSignal) => Promise<void> {
  let after = 0;
  let divisor = 1;

  async function publishRound(): Promise<boolean> {
    const limits = {
      perAccount: Math.ceil(LIMITS.perAccount / divisor),
      total: Math.ceil(LIMITS.total / divisor),
    };
    try {
      const { count, hasMore, lastAccountId } = await publishEvents(database, limits, after);
      metrics.publishedEvents.inc(count);
      after = lastAccountId ?? after;
      divisor = Math.max(divisor / 2, 1);
      return hasMore;
    } catch (error) {
      divisor = Math.min(divisor * 4, MAX_DIVISOR);
      throw error;
    }
  }

  return async (stopping) => {
    let hasMore: boolean;
    do hasMore = await publishRound();
    while (hasMore && !stopping.aborted);
  };
}
