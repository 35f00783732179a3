import type { AuthenticatedKey } from '@orders/database';
import { requestContext } from '@orders/http';
import type { Span } from '@orders/runtime';
import type { Request } from 'express';
import type { RequestSlot } from './admission/request-slot.ts';

/** State of one request, shared by its handlers and the log. */
export interface RequestContext {
  requestId: string;
  startedAt: number;
  /** The route's pattern, never the path: a path may contain anything. */
  route: string;
  authenticated?: AuthenticatedKey;
  /** Looks the key up again, bypassing the cache. */
  authenticateAgain?: () => Promise<AuthenticatedKey | null>;
  /** The id created for this request; after a replay, the original receipt's. */
  receiptId?: string;
  /** Null if the request is not traced. */
  span: Span | null;
  /** Memory and concurrency that the request occupies; released when it ends at the latest. */
  slot: RequestSlot;
  problem?: string;
  /** Order counts of an HTTP batch, for the log. */
  batch?: { orders: number; refused: number };
}

export const { setContext, contextOf } = requestContext<RequestContext>();

/** The log fields that identify a request. */
export function logFields({
  requestId,
  authenticated,
  receiptId,
  span,
}: RequestContext): Record<string, string | number> {
  return {
    request_id: requestId,
    ...(authenticated && { account_id: authenticated.accountId }),
    ...(receiptId && { receipt_id: receiptId }),
    ...(span && { trace_id: span.traceId }),
  };
}

/** The caller of a parser task; only for routes behind `authenticate`. */
export function callerOf(request: Request): { accountId: number; isGone: () => boolean } {
  return { accountId: accountOf(request).accountId, isGone: () => request.socket.destroyed };
}

/** The account of the request's key; only for routes behind `authenticate`. */
export function accountOf(request: Request): AuthenticatedKey {
  const { authenticated } = contextOf(request);
  if (!authenticated) throw new Error('the route has no authentication');
  return authenticated;
}
