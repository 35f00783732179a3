import type { Database } from '@orders/database/connect.ts';
import { countOpenRequests, type OpenRequests } from './list-requests.ts';
import { inTransaction } from '@orders/database/run.ts';
import { type Decisions, readDecisions } from './read-decisions.ts';
import { readWaiting, type WaitingOrders } from './read-waiting.ts';

export type ReviewOverview = {
  waiting: WaitingOrders;
  /** Requests to cancel orders that were dispatched, which nobody has dealt with. */
  cancellation_requests: Pick<OpenRequests, 'count' | 'capped'>;
} & Decisions;

/** Pages request this repeatedly, so that a database under load is better off without it. */
const STATEMENT_MS = 5000;

/** What waits for a decision and what was decided, at a cost that does not depend on how many orders an account has. */
export function readReviewOverview(database: Database, accountId: number, timeZone: string): Promise<ReviewOverview> {
  return inTransaction(
    database,
    async (connection) => ({
      waiting: await readWaiting(connection, accountId),
      cancellation_requests: await countOpenRequests(connection, accountId),
      ...(await readDecisions(connection, accountId, timeZone)),
    }),
    { statement_timeout: STATEMENT_MS },
  );
}
