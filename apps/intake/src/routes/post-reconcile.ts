import { BacklogTooLong, type Database, reconcileReceipts, type SeenReceipt } from '@orders/database';
import { Problem } from '@orders/domain';
import { createFairQueue } from '@orders/runtime';
import type { RequestHandler } from 'express';
import type { Parser } from '../parsing/parser.ts';
import type { RateLimits } from '../pipeline/limit-rate.ts';
import { accountOf, callerOf, contextOf } from '../request-context.ts';

/** Holds 1,000 of the longest ids in UTF-8, of which each takes 1,023 bytes, and is parsed whole. */
export const RECONCILE_MAX_BYTES = 1_048_576;

/** Max concurrent look-ups: each takes a connection for a while, and those of the pool are for the orders that come in. */
const MAX_CONCURRENT_LOOKUPS = 2;
/** A list of ids counts as one request for each of these ids that it begins: it takes about as much of Postgres. */
export const IDS_PER_REQUEST = 10;

/** Tells an account what became of the orders that it sent, by its own ids, and which of them it never did; on the primary. */
export function postReconcile(deps: { database: Database; parser: Parser; rateLimits: RateLimits }): RequestHandler {
  const { database, parser, rateLimits } = deps;
  const runFairly = createFairQueue<number>(MAX_CONCURRENT_LOOKUPS);
  return async (request, response) => {
    const { accountId } = accountOf(request);
    const { ids, seen } = await contextOf(request).slot.holdUntil(async () => {
      const ids = await parser.run(callerOf(request), 'readIds', request.body);
      await rateLimits.charge(request, response, Math.ceil(ids.length / IDS_PER_REQUEST));
      const lookUp = () => reconcileReceipts(database, accountId, [...new Set(ids)]).catch(refuseLongBacklog);
      return { ids, seen: await runFairly(accountId, lookUp) };
    });
    response.json({ results: ids.map((id) => resultOf(id, seen.get(id))) });
  };
}

function refuseLongBacklog(error: unknown): never {
  if (!(error instanceof BacklogTooLong)) throw error;
  throw new Problem('overloaded', {
    detail: 'Too many orders of this account are waiting to look through them. Retry after the time in Retry-After.',
  });
}

function resultOf(source_order_id: string, seen: SeenReceipt | undefined) {
  if (!seen) return { source_order_id, status: 'never_seen', receipt_id: null, order_id: null, received_at: null };
  const { state: status, receipt_id, order_id, received_at } = seen;
  return { source_order_id, status, receipt_id, order_id, received_at };
}
