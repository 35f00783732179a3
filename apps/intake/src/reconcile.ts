import { type Database, reconcileReceipts, type SeenReceipt } from '@orders/database';
import { parseBody, readSourceOrderIds } from '@orders/domain';
import { atMost } from '@orders/runtime';
import type { RequestHandler } from 'express';
import { keepingPlace } from './accept-order.ts';
import { holderOf } from './context.ts';

/** Below the base path. */
export const RECONCILE_PATH = '/ingest/reconcile';

/** So many look at once: with a long backlog each takes a connection for a while, and those of the pool are for the orders that come in. */
const LOOKS_AT_ONCE = 2;

/** Tells an account what became of the orders that it sent, by its own ids, and which of them it never did; on the primary. */
export function reconcile(database: Database): RequestHandler {
  const inTurn = atMost(LOOKS_AT_ONCE);
  return async (request, response) => {
    const ids = readSourceOrderIds(parseBody(request.body));
    const { accountId } = holderOf(request);
    const look = () => reconcileReceipts(database, accountId, [...new Set(ids)]);
    const seen = await keepingPlace(request, () => inTurn(look));
    response.json({ results: ids.map((id) => resultOf(id, seen.get(id))) });
  };
}

function resultOf(source_order_id: string, seen: SeenReceipt | undefined) {
  if (!seen) return { source_order_id, status: 'never_seen', receipt_id: null, order_id: null, received_at: null };
  const { state: status, receipt_id, order_id, received_at } = seen;
  return { source_order_id, status, receipt_id, order_id, received_at };
}
