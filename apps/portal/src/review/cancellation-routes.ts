import { closeRequests } from './close-requests.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf } from '../read-request.ts';
import { orderIds } from './read-filter.ts';

/** `POST /orders/cancellations/close`: the deliveries of orders that their sender wants to cancel were dealt with. */
export function cancellationRoutes({ knex, runShortFairly }: PortalDeps): Router {
  const router = Router();
  router.post('/orders/cancellations/close', async (request, response) => {
    const { order_ids } = bodyOf<{ order_ids: number[] }>(request, { order_ids: orderIds });
    const close = { accountId: accountIdOf(request), orderIds: order_ids, by: personOf(request).email };
    const outcome = await runShortFairly(request, () => closeRequests(knex, close));
    if (!outcome) throw new Problem('order_not_found');
    response.json(outcome);
  });
  return router;
}
