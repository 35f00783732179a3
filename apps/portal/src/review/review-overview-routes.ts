import type { Database } from '@orders/database/connect.ts';
import { inTransaction } from '@orders/database/run.ts';
import { Router } from 'express';
import Joi from 'joi';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { queryOf } from '../read-request.ts';
import { countOpenRequests, type OpenRequests } from './list-requests.ts';
import { type Decisions, readDecisions } from './read-decisions.ts';
import { readWaiting, type WaitingOrders } from './read-waiting.ts';

type ReviewOverview = {
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

/** Offsets such as +04:00 are left out, because Postgres reads their sign the other way round. */
const timeZone = Joi.string()
  .max(100)
  .pattern(/^[a-z]/i)
  .custom((name: string) => {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name;
  })
  .default('Asia/Dubai');

/** `GET /overview/review`: the orders that wait for a decision, and the decisions of the last 24 hours. */
export function reviewOverviewRoutes({ database, runFairly }: PortalDeps): Router {
  const router = Router();
  router.get('/overview/review', async (request, response) => {
    const { time_zone } = queryOf<{ time_zone: string }>(request, { time_zone: timeZone });
    const accountId = accountIdOf(request);
    response.json(await runFairly(request, () => readReviewOverview(database, accountId, time_zone)));
  });
  return router;
}
