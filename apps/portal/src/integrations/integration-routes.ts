import { readSetup } from './account-setup.ts';
import { listRejected } from '@orders/database/rejected-deliveries.ts';
import { Router } from 'express';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitPageBytes } from '../paginate.ts';
import { endpointRoutes } from './endpoint-routes.ts';
import { eventRoutes } from './event-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { mappingRoutes } from './mapping-routes.ts';
import { resendsRoutes } from './resends-routes.ts';
import { signingRoutes } from './signing-routes.ts';
import { sourceRoutes } from './source-routes.ts';
import { testOrderRoutes } from './test-order-routes.ts';

const MAX_REJECTED = 100;

/** Routes for a shop's developer: keys, signing secrets, sources, events, endpoints, test orders, the resend setting, the last rejected deliveries and the first steps. */
export function integrationRoutes(deps: PortalDeps): Router {
  const router = Router();
  router.use(keyRoutes(deps), signingRoutes(deps), testOrderRoutes(deps), resendsRoutes(deps));
  router.use(sourceRoutes(deps), mappingRoutes(deps), eventRoutes(deps), endpointRoutes(deps));
  router.get('/rejected-deliveries', async (request, response) => {
    const accountId = accountIdOf(request);
    const rejected = await deps.runFairly(request, () => listRejected(deps.knex, accountId, MAX_REJECTED));
    response.json({ rejected_deliveries: limitPageBytes(rejected) });
  });
  router.get('/setup', async (request, response) => {
    response.json(await deps.runShortFairly(request, () => readSetup(deps.knex, accountIdOf(request))));
  });
  return router;
}
