import type { Database } from '@orders/database/connect.ts';
import { Problem } from '@orders/domain/problems.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-queue.ts';
import type { IntakeMetrics } from '../observability/metrics.ts';
import { type Cancelled, type CancelRequest, cancelOrders, OrdersBusy } from './cancel-orders.ts';

/** Cancels orders, as `cancelOrders`. @throws {Problem} `overloaded` if an order is locked for too long. */
export type Canceller = (request: CancelRequest) => Promise<Map<string, Cancelled>>;

/** Max concurrent requests: each takes a connection for a while, and the pool is mainly for incoming orders. */
const MAX_CONCURRENT = 2;

/** Cancels fairly, one request of an account at a time: they would wait for each other's locks, and take the place of others. */
export function createCanceller(database: Database, metrics: Pick<IntakeMetrics, 'cancellations'>): Canceller {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT, 1);
  return async (request) => {
    const outcomes = await runFairly(request.accountId, () => cancelOrders(database, request)).catch(refuseBusy);
    for (const { outcome } of outcomes.values()) metrics.cancellations.inc({ outcome });
    return outcomes;
  };
}

function refuseBusy(error: unknown): never {
  if (!(error instanceof OrdersBusy)) throw error;
  throw new Problem('overloaded', {
    detail:
      'An order is being changed by others right now, and nothing was cancelled. Retry after the time in Retry-After.',
  });
}
