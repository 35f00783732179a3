import { Router } from 'express';
import Joi from 'joi';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { queryOf } from '../read-request.ts';
import { readActivity } from './read-activity.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Ranges of the chart and their steps, in milliseconds. */
const RANGES = {
  hour: { rangeMs: HOUR, stepMs: 5 * MINUTE },
  day: { rangeMs: DAY, stepMs: 30 * MINUTE },
  week: { rangeMs: 7 * DAY, stepMs: 3 * HOUR },
  month: { rangeMs: 30 * DAY, stepMs: 12 * HOUR },
} as const;

export type Range = keyof typeof RANGES;

/** `GET /overview?range=`: the account's activity. */
export function overviewRoutes({ database, runShort }: PortalDeps): Router {
  const router = Router();
  router.get('/overview', async (request, response) => {
    const { range } = queryOf<{ range: Range }>(request, {
      range: Joi.string()
        .valid(...Object.keys(RANGES))
        .default('day'),
    });
    response.json(await runShort(request, () => readActivity(database, accountIdOf(request), RANGES[range])));
  });
  return router;
}
