import type { Database } from '@orders/database/connect.ts';
import { REVIEW_DECISIONS, type ReviewDecision, reviewOrders } from '@orders/database/orders/review-orders.ts';
import { inTransaction } from '@orders/database/run.ts';
import type { OrderEdits } from '@orders/domain/apply-edits.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordRead } from '../audit/record-read.ts';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, orderIdOf, plainText, queryOf, uuidOf } from '../read-request.ts';
import { cancellationRoutes } from './cancellation-routes.ts';
import { expectChanged } from './change-order.ts';
import { decideChangedDelivery } from './decide-changed-delivery.ts';
import { editStoredOrder } from './edit-order.ts';
import { exportRoutes } from './export-routes.ts';
import type { Decision } from './find-changed-deliveries.ts';
import { findReviewedOrder } from './find-reviewed-order.ts';
import { countOpenRequests, type OpenRequests } from './list-requests.ts';
import { listRoutes } from './list-routes.ts';
import { nextOrderRoutes } from './next-order-routes.ts';
import { noteRoutes } from './note-routes.ts';
import { readOrderDetail } from './order-detail.ts';
import { printRoutes } from './print-routes.ts';
import { type Decisions, readDecisions } from './read-decisions.ts';
import { orderIds } from './read-filter.ts';
import { readWaiting, type WaitingOrders } from './read-waiting.ts';
import { recallOrder } from './recall-order.ts';
import { reviewTargetRoutes } from './review-target-routes.ts';
import { snoozeRoutes } from './snooze-routes.ts';
import { undoReview } from './undo-review.ts';
import { updatesRoutes } from './updates-routes.ts';
import { viewsRoutes } from './views-routes.ts';

type ReviewOverview = {
  waiting: WaitingOrders;
  /** Requests to cancel orders that were dispatched, which nobody has dealt with. */
  cancellation_requests: Pick<OpenRequests, 'count' | 'capped'>;
} & Decisions;

/** Pages request this repeatedly, so that a database under load is better off without it. */
const STATEMENT_MS = 5000;

/** What waits for a decision and what was decided, at a cost that does not depend on how many orders an account has. */
export function readReviewOverview(database: Database, accountId: number, timeZone: string): Promise<ReviewOverview> {
  return inTransaction(
    database,
    async (connection) => ({
      waiting: await readWaiting(connection, accountId),
      cancellation_requests: await countOpenRequests(connection, accountId),
      ...(await readDecisions(connection, accountId, timeZone)),
    }),
    { statement_timeout: STATEMENT_MS },
  );
}

/** Offsets such as +04:00 are left out, because Postgres reads their sign the other way round. */
const timeZone = Joi.string()
  .max(100)
  .pattern(/^[a-z]/i)
  .custom((name: string) => {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name;
  })
  .default('Asia/Dubai');

/** `GET /overview/review`: the orders that wait for a decision, and the decisions of the last 24 hours. */
function reviewOverviewRoutes({ database, runLong }: PortalDeps): Router {
  const router = Router();
  router.get('/overview/review', async (request, response) => {
    const { time_zone } = queryOf<{ time_zone: string }>(request, { time_zone: timeZone });
    const accountId = accountIdOf(request);
    response.json(await runLong(request, () => readReviewOverview(database, accountId, time_zone)));
  });
  return router;
}

const fields = Joi.object().pattern(Joi.string(), Joi.any());

/** Lists orders to review, and reads, edits, confirms and rejects them. The paths of lists come before those with an order id. */
export function reviewRoutes(deps: PortalDeps): Router {
  const { database, runLong, runShort } = deps;
  const router = Router();
  router.use(listRoutes(deps), updatesRoutes(deps), changedDeliveryRoutes(deps), noteRoutes(deps));
  router.use(exportRoutes(deps), viewsRoutes(deps), reviewOverviewRoutes(deps), cancellationRoutes(deps));
  router.use(reviewTargetRoutes(deps), nextOrderRoutes(deps), printRoutes(deps), snoozeRoutes(deps));

  router.get('/orders/:orderId', recordRead(deps, 'order'), async (request, response) => {
    const [accountId, id] = [accountIdOf(request), orderIdOf(request)];
    response.json(await runLong(request, () => readOrderDetail(deps, accountId, id)));
  });

  router.patch('/orders/:orderId', async (request, response) => {
    const [accountId, id] = [accountIdOf(request), orderIdOf(request)];
    const shown = await runLong(request, async () => {
      const { edits, expected } = bodyOf<{ edits: OrderEdits; expected?: OrderEdits }>(request, {
        edits: fields.min(1).required(),
        expected: fields,
      });
      const edit = { accountId, orderId: id, edits, ...(expected && { expected }), by: personOf(request).email };
      const edited = expectChanged(await editStoredOrder(database, edit));
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
    const outcome = await runShort(request, () => reviewOrders(database, review));
    if (!outcome) throw new Problem('order_not_found');
    const { changed, unchanged, undoUntil } = outcome;
    response.json({ changed, unchanged, undo_until: undoUntil });
  });

  router.post('/orders/:orderId/recall', async (request, response) => {
    const { reason } = bodyOf<{ reason: string }>(request, { reason: plainText(500).trim().required() });
    const [accountId, orderId] = [accountIdOf(request), orderIdOf(request)];
    const shown = await runLong(request, async () => {
      expectChanged(await recallOrder(database, { accountId, orderId, by: personOf(request).email, reason }));
      return readOrderDetail(deps, accountId, orderId);
    });
    response.json(shown);
  });

  router.post('/orders/review/undo', async (request, response) => {
    const { order_ids } = bodyOf<{ order_ids: number[] }>(request, { order_ids: orderIds });
    const by = personOf(request).email;
    const undo = { accountId: accountIdOf(request), orderIds: order_ids, by };
    const outcome = await runShort(request, () => undoReview(database, undo));
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

/** The decision to accept or reject a changed delivery. */
function changedDeliveryRoutes(deps: PortalDeps): Router {
  const { database, runLong } = deps;
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
    const detail = await runLong(request, async () => {
      const outcome =
        receiptId && (await decideChangedDelivery(database, { accountId, orderId, receiptId, decision, by }));
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
