import { countDead, type DeadFilter, findDead, LAST_UUID, redriveReceipts } from '@orders/database';
import { Router } from 'express';
import type { Knex } from 'knex';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitConcurrencyPerAccount } from '../limit-concurrency-per-account.ts';
import { bodyOf } from '../read-request.ts';
import { DEAD_FILTER, type DeadQuery, deadFilterOf } from './dead-filter.ts';
import { dryRunRedrive, TRIED_AT_MOST } from './dry-run-redrive.ts';

/** Redriven in one transaction, and by one request at most. */
const TOGETHER = 500;
const AT_MOST = 10_000;

/** `/dead-letters`: how many there are of what, and another try for all that match. */
export function deadLetterRoutes({ knex, database, runFairly, runShortFairly }: PortalDeps): Router {
  const limitPreviews = limitConcurrencyPerAccount(1);
  const limitRedrives = limitConcurrencyPerAccount(1);
  const router = Router();

  router.get('/dead-letters/counts', async (request, response) => {
    const codes = await runShortFairly(request, () => countDead(knex, accountIdOf(request), {}));
    response.json({ codes });
  });

  router.post('/dead-letters/redrive-preview', async (request, response) => {
    const accountId = accountIdOf(request);
    const filter = deadFilterOf(bodyOf<DeadQuery>(request, DEAD_FILTER));
    const preview = await limitPreviews(accountId, async () => {
      const { matching, ids } = await runShortFairly(request, async () => ({
        matching: await count(knex, accountId, filter),
        ids: await findDead(knex, accountId, filter, TRIED_AT_MOST, LAST_UUID),
      }));
      return dryRunRedrive({ database, runFairly }, request, ids, matching);
    });
    response.json(preview);
  });

  router.post('/dead-letters/redrive', async (request, response) => {
    const accountId = accountIdOf(request);
    const filter = deadFilterOf(bodyOf<DeadQuery>(request, DEAD_FILTER));
    const by = { accountId, actor: personOf(request).email };
    const outcome = await limitRedrives(accountId, async () => {
      let redriven = 0;
      // By its place, so that one which dies again meanwhile is not redriven twice.
      let before = LAST_UUID;
      while (redriven < AT_MOST) {
        const ids = await findDead(knex, accountId, filter, TOGETHER, before);
        redriven += (await redriveReceipts(knex, ids, by)).length;
        if (ids.length < TOGETHER) break;
        before = ids.at(-1) as string;
      }
      return { redriven, left: await count(knex, accountId, filter) };
    });
    response.json(outcome);
  });

  return router;
}

async function count(knex: Knex, accountId: number, filter: DeadFilter): Promise<number> {
  return (await countDead(knex, accountId, filter)).reduce((sum, code) => sum + code.count, 0);
}
