import { editStoredOrder } from './edit-order.ts';
import { REVIEW_DECISIONS, type ReviewDecision, reviewOrders } from '@orders/database/orders/review-orders.ts';
import { undoReview } from './undo-review.ts';
import type { OrderEdits } from '@orders/domain/apply-edits.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordRead } from '../audit/record-read.ts';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, orderIdOf, plainText } from '../read-request.ts';
import { cancellationRoutes } from './cancellation-routes.ts';
import { exportRoutes } from './export-routes.ts';
import { listRoutes } from './list-routes.ts';
import { noteRoutes } from './note-routes.ts';
import { readOrderDetail } from './order-detail.ts';
import { orderIds } from './read-filter.ts';
import { resendRoutes } from './resend-routes.ts';
import { reviewOverviewRoutes } from './review-overview-routes.ts';
import { updatesRoutes } from './updates-routes.ts';
import { viewsRoutes } from './views-routes.ts';

const fields = Joi.object().pattern(Joi.string(), Joi.any());

/** Lists orders to review, and reads, edits, confirms and rejects them. The paths of lists come before those with an order id. */
export function reviewRoutes(deps: PortalDeps): Router {
  const { knex, runFairly, runShortFairly } = deps;
  const router = Router();
  router.use(listRoutes(deps), updatesRoutes(deps), resendRoutes(deps), noteRoutes(deps));
  router.use(exportRoutes(deps), viewsRoutes(deps), reviewOverviewRoutes(deps), cancellationRoutes(deps));

  router.get('/orders/:orderId', recordRead(deps, 'order'), async (request, response) => {
    const [accountId, id] = [accountIdOf(request), orderIdOf(request)];
    response.json(await runFairly(request, () => readOrderDetail(deps, accountId, id)));
  });

  router.patch('/orders/:orderId', async (request, response) => {
    const [accountId, id] = [accountIdOf(request), orderIdOf(request)];
    const shown = await runFairly(request, async () => {
      const { edits, expected } = bodyOf<{ edits: OrderEdits; expected?: OrderEdits }>(request, {
        edits: fields.min(1).required(),
        expected: fields,
      });
      const edit = { accountId, orderId: id, edits, ...(expected && { expected }), by: personOf(request).email };
      const edited = await editStoredOrder(knex, edit);
      if (edited === null) throw new Problem('order_not_found');
      if (edited === 'conflict') throw new Problem('conflicting_state');
      return { ...(await readOrderDetail(deps, accountId, id)), undo: edited.undo };
    });
    response.json(shown);
  });

  router.post('/orders/review', async (request, response) => {
    const body = bodyOf<{ order_ids: number[]; to: ReviewDecision; reason?: string }>(request, {
      order_ids: orderIds,
      to: Joi.valid(...REVIEW_DECISIONS).required(),
      reason: plainText(500).trim(),
    });
    const error = reasonError(body.to, body.reason);
    if (error) throw new Problem('invalid_request', { errors: [{ pointer: '/reason', ...error }] });
    const review = {
      accountId: accountIdOf(request),
      orderIds: body.order_ids,
      to: body.to,
      by: personOf(request).email,
      reason: body.reason,
    };
    const outcome = await runShortFairly(request, () => reviewOrders(knex, review));
    if (!outcome) throw new Problem('order_not_found');
    const { changed, unchanged, undoUntil } = outcome;
    response.json({ changed, unchanged, undo_until: undoUntil });
  });

  router.post('/orders/review/undo', async (request, response) => {
    const { order_ids } = bodyOf<{ order_ids: number[] }>(request, { order_ids: orderIds });
    const by = personOf(request).email;
    const undo = { accountId: accountIdOf(request), orderIds: order_ids, by };
    const outcome = await runShortFairly(request, () => undoReview(knex, undo));
    if (!outcome) throw new Problem('order_not_found');
    response.json(outcome);
  });

  return router;
}

function reasonError(to: ReviewDecision, reason: string | undefined) {
  if (to === 'rejected')
    return reason === undefined ? { code: 'any_required', detail: 'reason is required to reject' } : null;
  return reason === undefined ? null : { code: 'any_unknown', detail: 'reason is only for rejecting' };
}
