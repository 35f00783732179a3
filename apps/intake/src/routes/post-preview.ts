import { type Database, findOrderBySource } from '@orders/database';
import type { RequestHandler } from 'express';
import type { Parser } from '../parsing/parser.ts';
import type { RateLimits } from '../pipeline/limit-rate.ts';
import { accountOf, callerOf, contextOf } from '../request-context.ts';

/** A preview counts as one request for each of these bytes that its body begins. */
export const PREVIEW_BYTES_PER_REQUEST = 16_384;

/** Tells how an order would be stored, and stores nothing. The body is refused for what would refuse it on `POST /ingest/orders`. */
export function postPreview(deps: { database: Database; parser: Parser; rateLimits: RateLimits }): RequestHandler {
  const { database, parser, rateLimits } = deps;
  return async (request, response) => {
    const { accountId } = accountOf(request);
    const { body } = request;
    await rateLimits.charge(request, response, Math.ceil(body.length / PREVIEW_BYTES_PER_REQUEST));
    await contextOf(request).slot.holdUntil(async () => {
      const { order, warnings } = await parser.run(callerOf(request), 'previewOrder', body);
      const original = await findOrderBySource(database, accountId, order.source_order_id);
      response.json({ normalized: order, warnings, duplicate_of: original });
    });
  };
}
