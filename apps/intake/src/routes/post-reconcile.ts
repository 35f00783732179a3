import type { Database } from '@orders/database/connect.ts';
import { Problem } from '@orders/domain/problems.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { RequestHandler } from 'express';
import type { Parser } from '../parsing/parser.ts';
import type { RateLimits } from '../pipeline/limit-rate.ts';
import { callerOf, contextOf, senderOf } from '../request-context.ts';
import { BacklogTooLong, type NewestReceipt, reconcileReceipts } from './reconcile-receipts.ts';

/** Fits 1,000 ids of the max length, 1,023 bytes in UTF-8. */
export const RECONCILE_MAX_BYTES = 1_048_576;

/** Max concurrent look-ups: each takes a connection for a while, and the pool is mainly for incoming orders. */
const MAX_CONCURRENT_LOOKUPS = 2;
/** A list counts as one request per started 10 ids, which cost Postgres about as much. */
export const IDS_PER_REQUEST = 10;

/** `POST /ingest/reconcile`: the state of the account's orders by its own ids, or that an id never arrived. Reads from the primary. */
export function postReconcile(deps: { database: Database; parser: Parser; rateLimits: RateLimits }): RequestHandler {
  const { database, parser, rateLimits } = deps;
  const runFairly = createFairQueue<number>(MAX_CONCURRENT_LOOKUPS);
  return async (request, response) => {
    const { accountId } = senderOf(request);
    const { ids, newest } = await contextOf(request).slot.holdUntil(async () => {
      const ids = await parser.run(callerOf(request), 'readIds', request.body);
      await rateLimits.charge(request, response, Math.ceil(ids.length / IDS_PER_REQUEST));
      const lookUp = () => reconcileReceipts(database, accountId, [...new Set(ids)]).catch(rejectLongBacklog);
      return { ids, newest: await runFairly(accountId, lookUp) };
    });
    response.json({ results: ids.map((id) => resultOf(id, newest.get(id))) });
  };
}

function rejectLongBacklog(error: unknown): never {
  if (!(error instanceof BacklogTooLong)) throw error;
  throw new Problem('overloaded', {
    detail:
      'Too many orders of this account are pending, so they cannot be searched now. Retry after the time in Retry-After.',
  });
}

function resultOf(source_order_id: string, newest: NewestReceipt | undefined) {
  if (!newest) return { source_order_id, status: 'never_seen', receipt_id: null, order_id: null, received_at: null };
  const { state: status, receipt_id, order_id, received_at } = newest;
  return { source_order_id, status, receipt_id, order_id, received_at };
}
