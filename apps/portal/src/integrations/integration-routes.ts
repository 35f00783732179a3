import { listRejected } from '@orders/database';
import { Router } from 'express';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { withinPage } from '../paginate.ts';
import { keyRoutes } from './key-routes.ts';
import { resendsRoutes } from './resends-routes.ts';
import { signingRoutes } from './signing-routes.ts';
import { testOrderRoutes } from './test-order-routes.ts';

/** As many of the last refusals as the page shows. */
const SHOWN = 100;

/** What a shop's developer needs: keys, signing secrets, a test order, what becomes of resends, and what was refused of their deliveries. */
export function integrationRoutes(deps: PortalDeps): Router {
  const router = Router();
  router.use(keyRoutes(deps), signingRoutes(deps), testOrderRoutes(deps), resendsRoutes(deps));
  router.get('/rejected-deliveries', async (request, response) => {
    const accountId = accountIdOf(request);
    const rejected = await deps.runFairly(request, () => listRejected(deps.knex, accountId, SHOWN));
    response.json({ rejected_deliveries: withinPage(rejected) });
  });
  return router;
}
