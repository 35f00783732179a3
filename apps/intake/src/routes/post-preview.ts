import type { Database } from '@orders/database/connect.ts';
import { findKey } from '@orders/database/orders/find-order-by-source.ts';
import type { RequestHandler } from 'express';
import type { Parser } from '../parsing/parser.ts';
import type { RateLimits } from '../pipeline/limit-rate.ts';
import { callerOf, contextOf, senderOf } from '../request-context.ts';

/** A preview counts as one request per started 16 KiB of its body. */
export const PREVIEW_BYTES_PER_REQUEST = 16_384;

/** `POST /ingest/preview`: how an order would be stored, without storing it. Rejects the same bodies as `POST /ingest/orders`. */
export function postPreview(deps: { database: Database; parser: Parser; rateLimits: RateLimits }): RequestHandler {
  const { database, parser, rateLimits } = deps;
  return async (request, response) => {
    const { accountId } = senderOf(request);
    const { body } = request;
    await rateLimits.charge(request, response, Math.ceil(body.length / PREVIEW_BYTES_PER_REQUEST));
    await contextOf(request).slot.holdUntil(async () => {
      const { order, warnings } = await parser.run(callerOf(request), 'previewOrder', body);
      const key = await findKey(database, accountId, order.source_order_id);
      response.json({
        normalized: order,
        warnings,
        duplicate_of: key.order,
        cancellation_held: key.isCancellationHeld,
      });
    });
  };
}
