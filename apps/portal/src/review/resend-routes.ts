import { findReviewedOrder } from './find-reviewed-order.ts';
import type { Decision } from './find-resends.ts';
import { decideResend } from './decide-resend.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, orderIdOf, uuidOf } from '../read-request.ts';
import { readOrderDetail } from './order-detail.ts';

/** The decision to accept or refuse a resend with other content. */
export function resendRoutes(deps: PortalDeps): Router {
  const { database, knex, runFairly } = deps;
  const router = Router();

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
