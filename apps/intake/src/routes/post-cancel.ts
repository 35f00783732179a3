import type { Database } from '@orders/database/connect.ts';
import { Problem } from '@orders/domain/problems.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { RequestHandler } from 'express';
import type { IntakeMetrics } from '../observability/metrics.ts';
import type { Parser } from '../parsing/parser.ts';
import type { RateLimits } from '../pipeline/limit-rate.ts';
import { callerOf, contextOf, keyOf } from '../request-context.ts';
import { type Cancelled, type CancelRequest, cancelOrders, OrdersBusy } from './cancel-orders.ts';

/** Cancels orders, as `cancelOrders`. @throws {Problem} `overloaded` if an order is locked for too long. */
export type Canceller = (request: CancelRequest) => Promise<Map<string, Cancelled>>;

/** Max concurrent requests: each takes a connection for a while, and the pool is mainly for incoming orders. */
const MAX_CONCURRENT = 2;

/** Cancels fairly, one request of an account at a time: two would wait for each other's locks, and keep those of other accounts waiting. */
export function createCanceller(database: Database, metrics: Pick<IntakeMetrics, 'cancellations'>): Canceller {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT, 1);
  return async (request) => {
    const outcomes = await runFairly(request.accountId, () => cancelOrders(database, request)).catch(rejectBusy);
    for (const { outcome } of outcomes.values()) metrics.cancellations.inc({ outcome });
    return outcomes;
  };
}

function rejectBusy(error: unknown): never {
  if (!(error instanceof OrdersBusy)) throw error;
  throw new Problem('overloaded', {
    detail:
      'An order is being changed by others right now, and nothing was cancelled. Retry after the time in Retry-After.',
  });
}

interface CancelDeps {
  parser: Parser;
  rateLimits: RateLimits;
  cancel: Canceller;
}

/**
 * `POST /ingest/orders/cancel` and `POST /ingest/webhook/cancel`: cancels one order or a list of them, durably before the reply. Each
 * cancellation counts as one request.
 */
export function postCancel({ parser, rateLimits, cancel }: CancelDeps): RequestHandler {
  return async (request, response) => {
    const { accountId, keyId } = keyOf(request);
    await contextOf(request).slot.holdUntil(async () => {
      const { isList, items } = await parser.run(callerOf(request), 'readCancellations', request.body);
      await rateLimits.charge(request, response, items.length);
      const outcomes = await cancel({ accountId, by: { keyId }, cancellations: items });
      const results = items.map(({ sourceOrderId }) => resultOf(sourceOrderId, outcomes.get(sourceOrderId)));
      response.json(isList ? { results } : results[0]);
    });
  };
}

function resultOf(source_order_id: string, cancelled: Cancelled | undefined) {
  if (!cancelled) throw new Error('a cancellation has no outcome');
  return { outcome: cancelled.outcome, source_order_id, order_id: cancelled.orderId };
}
