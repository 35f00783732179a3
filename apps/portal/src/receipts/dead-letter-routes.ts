import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { LAST_UUID } from '@orders/database/receipts/uuids.ts';
import type { Connection } from '@orders/database/run.ts';
import { Router } from 'express';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitConcurrencyPerAccount } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';
import { DEAD_FILTER, type DeadQuery, deadFilterOf } from './dead-filter.ts';
import { countDead, type DeadFilter, findDeadIds } from './dead-letters.ts';
import { dryRunRedrive, MAX_TRIED } from './dry-run-redrive.ts';

/** Receipts per transaction, and max receipts per request. */
const REDRIVE_BATCH_SIZE = 500;
const MAX_REDRIVEN = 10_000;

/** `/dead-letters`: counts by error code, and preview and redrive of all that match a filter. */
export function deadLetterRoutes({ database, runLong, runShort }: PortalDeps): Router {
  const limitPreviews = limitConcurrencyPerAccount(1);
  const limitRedrives = limitConcurrencyPerAccount(1);
  const router = Router();

  router.get('/dead-letters/counts', async (request, response) => {
    const codes = await runShort(request, () => countDead(database, accountIdOf(request), {}));
    response.json({ codes });
  });

  router.post('/dead-letters/redrive-preview', async (request, response) => {
    const accountId = accountIdOf(request);
    const filter = deadFilterOf(bodyOf<DeadQuery>(request, DEAD_FILTER));
    const preview = await limitPreviews(accountId, async () => {
      const { matching, ids } = await runShort(request, async () => ({
        matching: await count(database, accountId, filter),
        ids: await findDeadIds(database, accountId, filter, MAX_TRIED, LAST_UUID),
      }));
      return dryRunRedrive({ database, runLong }, request, ids, matching);
    });
    response.json(preview);
  });

  router.post('/dead-letters/redrive', async (request, response) => {
    const accountId = accountIdOf(request);
    const filter = deadFilterOf(bodyOf<DeadQuery>(request, DEAD_FILTER));
    const by = { accountId, actor: personOf(request).email };
    const outcome = await limitRedrives(accountId, async () => {
      let redriven = 0;
      // A cursor, so that a receipt that becomes dead again meanwhile is not redriven twice.
      let before = LAST_UUID;
      // Counts also the deliveries that still cannot be mapped.
      for (let tried = 0; tried < MAX_REDRIVEN; tried += REDRIVE_BATCH_SIZE) {
        const ids = await findDeadIds(database, accountId, filter, REDRIVE_BATCH_SIZE, before);
        redriven += (await redriveReceipts(database, ids, by)).length;
        if (ids.length < REDRIVE_BATCH_SIZE) break;
        before = ids.at(-1) as string;
      }
      return { redriven, left: await count(database, accountId, filter) };
    });
    response.json(outcome);
  });

  return router;
}

async function count(database: Connection, accountId: number, filter: DeadFilter): Promise<number> {
  return (await countDead(database, accountId, filter)).reduce((sum, code) => sum + code.count, 0);
}
