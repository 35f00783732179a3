import { lockAccount } from '@orders/database/accounts/accounts.ts';
import { readEventLog, setEvents } from '@orders/database/events/event-logs.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';

/** The log of events of an account: its state, and whether events are recorded. */
export function eventRoutes(deps: PortalDeps): Router {
  const { knex, runShortFairly } = deps;
  const transact = transactFairly(deps);
  const router = Router();

  router.get('/events', async (request, response) => {
    response.json(await runShortFairly(request, () => readEventLog(knex, accountIdOf(request))));
  });

  router.put('/events', async (request, response) => {
    const { is_enabled } = bodyOf<{ is_enabled: boolean }>(request, { is_enabled: Joi.boolean().strict().required() });
    const accountId = accountIdOf(request);
    const state = await transact(request, async (trx) => {
      // Locked, so that the audit entry matches the change.
      await lockAccount(trx, accountId);
      if (await setEvents(trx, accountId, is_enabled)) {
        const action = is_enabled ? 'events_enabled' : 'events_disabled';
        await recordBy(trx, request, { accountId, action, subject: `account:${accountId}` });
      }
      return readEventLog(trx, accountId);
    });
    response.json(state);
  });

  return router;
}
