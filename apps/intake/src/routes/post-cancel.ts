import type { Channel } from '@orders/domain/receipt-states.ts';
import type { RequestHandler } from 'express';
import type { Parser } from '../parsing/parser.ts';
import type { RateLimits } from '../pipeline/limit-rate.ts';
import { callerOf, contextOf, keyOf } from '../request-context.ts';
import type { Cancelled } from './cancel-orders.ts';
import type { Canceller } from './canceller.ts';

interface CancelDeps {
  parser: Parser;
  rateLimits: RateLimits;
  cancel: Canceller;
}

/**
 * `POST /ingest/orders/cancel` and `POST /ingest/webhook/cancel`: cancels one order or a list of them, durably before the reply. Each
 * cancellation counts as one request.
 */
export function postCancel(channel: Channel, { parser, rateLimits, cancel }: CancelDeps): RequestHandler {
  return async (request, response) => {
    const { accountId, keyId } = keyOf(request);
    await contextOf(request).slot.holdUntil(async () => {
      const { isList, items } = await parser.run(callerOf(request), 'readCancellations', request.body);
      await rateLimits.charge(request, response, items.length);
      const outcomes = await cancel({ accountId, by: { keyId }, channel, cancellations: items });
      const results = items.map(({ sourceOrderId }) => resultOf(sourceOrderId, outcomes.get(sourceOrderId)));
      response.json(isList ? { results } : results[0]);
    });
  };
}

function resultOf(source_order_id: string, cancelled: Cancelled | undefined) {
  if (!cancelled) throw new Error('a cancellation has no outcome');
  return { outcome: cancelled.outcome, source_order_id, order_id: cancelled.orderId };
}
