import { type Decision, decideResend, findReviewedOrder, markResent } from '@orders/database';
import { Problem } from '@orders/domain';
import { Router } from 'express';
import Joi from 'joi';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, orderIdOf, queryOf, uuidOf } from '../read-request.ts';
import { readOrderDetail } from './order-detail.ts';

const ids = Joi.string().pattern(/^[1-9]\d{0,15}(,[1-9]\d{0,15}){0,199}$/);

/** Orders that were sent again with other content: their marks, and the decision to accept or refuse. */
export function resendRoutes(deps: PortalDeps): Router {
  const { database, knex, runFairly, runShortFairly } = deps;
  const router = Router();

  router.get('/orders/resent', async (request, response) => {
    const { order_ids } = queryOf<{ order_ids: string }>(request, { order_ids: ids.required() });
    const orders = order_ids.split(',').map((id) => ({ order_id: Number(id) }));
    const marked = await runShortFairly(request, () => markResent(database, accountIdOf(request), orders));
    response.json({ orders: marked });
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
    const detail = await runFairly(request, async () => {
      const outcome = receiptId && (await decideResend(knex, { accountId, orderId, receiptId, decision, by }));
      if (!outcome) {
        const order = await findReviewedOrder(database, accountId, orderId);
        throw new Problem(order ? 'receipt_not_found' : 'order_not_found');
      }
      if (outcome === 'conflict') throw new Problem('conflicting_state');
      return readOrderDetail(deps, accountId, orderId);
    });
    response.json(detail);
  });

  return router;
}
