import {
  countNeedingReview,
  editStoredOrder,
  listReview,
  listReviewSince,
  markResent,
  type ReviewFilter,
  reviewOrders,
  undoReview,
} from '@orders/database';
import { type OrderEdits, Problem, REVIEW_STATES, type ReviewState } from '@orders/domain';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitPageBytes } from '../paginate.ts';
import { bodyOf, orderIdOf, plainText, queryOf } from '../read-request.ts';
import { readOrderDetail } from './order-detail.ts';
import { FILTER, type FilterQuery, toFilter } from './read-filter.ts';
import { resendRoutes } from './resend-routes.ts';

const PAGE = 50;
const MAX_PAGE = 200;
const MAX_ORDERS_PER_REQUEST = 1000;

const orderId = Joi.number().integer().positive().max(Number.MAX_SAFE_INTEGER);
const orderIds = Joi.array().items(orderId.strict()).min(1).max(MAX_ORDERS_PER_REQUEST).required();

/** Lists orders to review, and reads, edits, confirms and rejects them. */
export function reviewRoutes(deps: PortalDeps): Router {
  const { database, knex, runFairly, runShortFairly } = deps;
  const router = Router();
  router.use(resendRoutes(deps));

  router.get('/orders', async (request, response) => {
    const { cursor, limit, ...query } = queryOf<FilterQuery & { cursor?: number; limit: number }>(request, {
      ...FILTER,
      cursor: orderId,
      limit: Joi.number().integer().min(1).max(MAX_PAGE).default(PAGE),
    });
    const accountId = accountIdOf(request);
    const page = await runFairly(request, async () => {
      const { orders, nextBelow } = await listReview(database, filterOf(request, query), {
        below: cursor ?? null,
        limit,
      });
      const shown = limitPageBytes(await markResent(database, accountId, orders));
      return { shown, next: shown.length < orders.length ? (shown.at(-1)?.order_id ?? null) : nextBelow };
    });
    response.json({ orders: page.shown, next_cursor: page.next === null ? null : String(page.next) });
  });

  router.get('/orders/new', async (request, response) => {
    const { after, ...query } = queryOf<FilterQuery & { after: number }>(request, {
      ...FILTER,
      after: orderId.allow(0).required(),
    });
    const accountId = accountIdOf(request);
    const newer = await runFairly(request, async () => {
      const { orders, ...rest } = await listReviewSince(database, filterOf(request, query), { after, limit: PAGE });
      const shown = limitPageBytes(await markResent(database, accountId, orders));
      return { ...rest, orders: shown, more: rest.more || shown.length < orders.length };
    });
    response.json(newer);
  });

  router.get('/orders/counts', async (request, response) => {
    const { count, capped } = await runShortFairly(request, () => countNeedingReview(database, accountIdOf(request)));
    response.json({ needs_review: count, capped });
  });

  router.get('/orders/:orderId', async (request, response) => {
    const [accountId, id] = [accountIdOf(request), orderIdOf(request)];
    response.json(await runFairly(request, () => readOrderDetail(deps, accountId, id)));
  });

  router.patch('/orders/:orderId', async (request, response) => {
    const [accountId, id] = [accountIdOf(request), orderIdOf(request)];
    const shown = await runFairly(request, async () => {
      const { edits } = bodyOf<{ edits: OrderEdits }>(request, {
        edits: Joi.object().pattern(Joi.string(), Joi.any()).min(1).required(),
      });
      const edited = await editStoredOrder(knex, { accountId, orderId: id, edits, by: personOf(request).email });
      if (edited === null) throw new Problem('order_not_found');
      if (!edited) throw new Problem('conflicting_state');
      return readOrderDetail(deps, accountId, id);
    });
    response.json(shown);
  });

  router.post('/orders/review', async (request, response) => {
    const body = bodyOf<{ order_ids: number[]; to: ReviewState; reason?: string }>(request, {
      order_ids: orderIds,
      to: Joi.valid(...REVIEW_STATES).required(),
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

function reasonError(to: ReviewState, reason: string | undefined) {
  if (to === 'rejected')
    return reason === undefined ? { code: 'any_required', detail: 'reason is required to reject' } : null;
  return reason === undefined ? null : { code: 'any_unknown', detail: 'reason is only for rejecting' };
}

function filterOf(request: Request, query: FilterQuery): ReviewFilter {
  return toFilter(accountIdOf(request), query);
}
