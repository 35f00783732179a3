import { readReviewOverview } from './read-review-overview.ts';
import { Router } from 'express';
import Joi from 'joi';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { queryOf } from '../read-request.ts';

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
