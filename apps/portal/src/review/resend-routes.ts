import { type Decision, decideResend, findReviewedOrder, markResent } from '@orders/database';
import { Problem } from '@orders/domain';
import { Router } from 'express';
import Joi from 'joi';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, orderIdOf, queryOf, uuidOf } from '../read-request.ts';
import { showOrder } from './show-order.ts';

const ids = Joi.string().pattern(/^[1-9]\d{0,15}(,[1-9]\d{0,15}){0,199}$/);

/** Which orders were sent again with other content; and accepts or refuses that. */
export function resendRoutes(deps: PortalDeps): Router {
  const { database, knex, runFairly, runShortFairly } = deps;
  const router = Router();

  router.get('/orders/resent', async (request, response) => {
    const { order_ids } = queryOf<{ order_ids: string }>(request, { order_ids: ids.required() });
    const asked = order_ids.split(',').map((id) => ({ order_id: Number(id) }));
    const orders = await runShortFairly(request, () => markResent(database, accountIdOf(request), asked));
    response.json({ orders });
  });

  router.post('/orders/:orderId/resends/:receiptId', async (request, response) => {
    const { decision } = bodyOf<{ decision: Decision }>(request, {
      decision: Joi.valid('accepted', 'refused').required(),
    });
    const [accountId, orderId, receiptId] = [
      accountIdOf(request),
      orderIdOf(request),
      uuidOf(request.params.receiptId),
    ];
    const by = personOf(request).email;
    const shown = await runFairly(request, async () => {
      const outcome = receiptId && (await decideResend(knex, { accountId, orderId, receiptId, decision, by }));
      if (!outcome) {
        const isThere = await findReviewedOrder(database, accountId, orderId);
        throw new Problem(isThere ? 'receipt_not_found' : 'order_not_found');
      }
      if (outcome === 'conflict') throw new Problem('conflicting_state');
      return showOrder(deps, accountId, orderId);
    });
    response.json(shown);
  });

  return router;
}
