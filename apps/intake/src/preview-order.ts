import { type Database, findOrderBySource } from '@orders/database';
import { normalizeOrder, parseBody, validateOrder } from '@orders/domain';
import type { RequestHandler } from 'express';
import { contextOf, holderOf } from './context.ts';

/** Tells what would become of an order, and stores nothing. The body is refused for what would refuse it on `POST /ingest/orders`. */
export function previewOrder(database: Database): RequestHandler {
  return async (request, response) => {
    const payload = parseBody(request.body);
    validateOrder(payload);
    const { order, warnings } = normalizeOrder(payload);
    const original = await findOrderBySource(database, holderOf(request).accountId, order.source_order_id);
    contextOf(request).leave();
    response.json({ normalized: order, warnings, duplicate_of: original });
  };
}
