import type { ListedOrder } from '@orders/database/orders/order-rows.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { recordRead } from '../audit/record-read.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitPageBytes, queryOf } from '../read-request.ts';
import { findUndecided } from './find-changed-deliveries.ts';
import { markListed } from './find-notes.ts';
import { listReview } from './list-review.ts';
import { isSortKey, listMatchingIds, listSorted, SORTS, type Sort, type SortedPlace } from './list-sorted.ts';
import { FILTER, type FilterQuery, toFilter } from './read-filter.ts';
import { searchOrders } from './search-orders.ts';

const PAGE = 50;
const MAX_PAGE = 200;
/** Max orders of each state that a search of all returns. */
const MAX_FOUND = 20;

interface ListQuery extends FilterQuery {
  sort: Sort;
  cursor?: string;
  limit: number;
}

/** A part of a list: its orders, the cursor after each, and the one after the part. */
interface Part {
  orders: ListedOrder[];
  cursors: string[];
  next: string | null;
  sortedNewest: number | null;
}

/** Key and order id; lists by age have no key. */
const CURSOR = /^(?:([-\w.~]{1,60}),)?([1-9]\d{0,15})$/;

/** Lists orders, searches them in all states, and lists the ids of all that match a filter. */
export function listRoutes(deps: PortalDeps): Router {
  const { database, runLong } = deps;
  const recordOrders = recordRead(deps, 'orders');
  const router = Router();

  router.get('/orders', recordOrders, async (request, response) => {
    const query = queryOf<ListQuery>(request, {
      ...FILTER,
      sort: Joi.valid(...SORTS).default('newest'),
      cursor: Joi.string(),
      limit: Joi.number().integer().min(1).max(MAX_PAGE).default(PAGE),
    });
    const accountId = accountIdOf(request);
    const page = await runLong(request, async () => {
      const part = await readPart(request, query);
      const orders = limitPageBytes(await markListed(database, accountId, part.orders));
      const next = orders.length < part.orders.length ? (part.cursors[orders.length - 1] ?? null) : part.next;
      return { orders, next_cursor: next, sorted_newest: part.sortedNewest };
    });
    response.json(page);
  });

  router.get('/orders/search', recordOrders, async (request, response) => {
    const { state: _state, similar: _similar, ...filter } = FILTER;
    const { limit, ...query } = queryOf<Omit<FilterQuery, 'state' | 'similar'> & { limit: number }>(request, {
      ...filter,
      limit: Joi.number().integer().min(0).max(MAX_FOUND).default(0),
    });
    const anyState = toFilter(accountIdOf(request), { ...query, state: 'needs_review' });
    response.json({ states: await runLong(request, () => searchOrders(database, anyState, limit)) });
  });

  router.get('/orders/ids', recordOrders, async (request, response) => {
    const { similar, ...query } = queryOf<FilterQuery>(request, FILTER);
    const filter = toFilter(accountIdOf(request), query);
    const { found, undecidedIds } = await runLong(request, async () => {
      const matching = await listMatchingIds(database, filter, similar === 'yes');
      return { found: matching, undecidedIds: await findUndecided(database, filter.accountId, matching.orderIds) };
    });
    response.json({
      order_ids: found.orderIds,
      blocked: found.blockedIds.length,
      blocked_ids: found.blockedIds,
      undecided_ids: undecidedIds,
      capped: found.capped,
    });
  });

  async function readPart(request: Request, { sort, cursor, limit, similar, ...query }: ListQuery): Promise<Part> {
    const filter = toFilter(accountIdOf(request), query);
    const isByAge = (sort === 'newest' || sort === 'oldest') && similar === undefined;
    const after = cursor === undefined ? null : readCursor(cursor, isByAge ? null : sort);
    if (isByAge) {
      const { orders, next } = await listReview(database, filter, {
        after: after?.orderId ?? null,
        limit,
        first: sort,
      });
      const cursors = orders.map(({ order_id }) => String(order_id));
      return { orders, cursors, next: next === null ? null : String(next), sortedNewest: null };
    }
    const page = await listSorted(database, filter, { sort, after, limit, similar: similar === 'yes' });
    const cursors = page.places.map(({ key, orderId }) => `${key},${orderId}`);
    return {
      orders: page.orders,
      cursors,
      next: page.hasMore ? (cursors.at(-1) ?? null) : null,
      sortedNewest: page.sortedNewest,
    };
  }

  return router;
}

/**
 * @param sort null for a list by age, whose cursors have no key.
 * @throws {Problem} `invalid_request`.
 */
function readCursor(cursor: string, sort: Sort | null): SortedPlace {
  const [, key, id] = CURSOR.exec(cursor) ?? [];
  if (id === undefined || (sort === null ? key !== undefined : !isSortKey(sort, key ?? ''))) {
    const error = { pointer: '/cursor', code: 'any_invalid', detail: 'cursor is not of this list' };
    throw new Problem('invalid_request', { errors: [error] });
  }
  return { key: key ?? '', orderId: Number(id) };
}
