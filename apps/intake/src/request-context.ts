import type { AuthenticatedKey } from '@orders/database';
import { requestContext } from '@orders/http';
import type { Span } from '@orders/runtime';
import type { Request } from 'express';
import type { RequestSlot } from './admission/request-slot.ts';

/** What the steps of one request tell each other and the log. */
export interface RequestContext {
  requestId: string;
  startedAt: number;
  /** The route's pattern, never the path: a path can hold anything. */
  route: string;
  authenticated?: AuthenticatedKey;
  /** Looks the holder up anew, whatever is remembered of it. */
  authenticateAgain?: () => Promise<AuthenticatedKey | null>;
  /** The one made for this request, as soon as there is one; in the end the one that it was answered with. */
  receiptId?: string;
  /** Null where this request is not traced. */
  span: Span | null;
  /** What the request holds of intake; released at its end at the latest. */
  slot: RequestSlot;
  problem?: string;
  /** What became of the orders of a batch, for the log. */
  batch?: { orders: number; refused: number };
}

/** `contextOf` gives what `startRequest` made. */
export const { setContext, contextOf } = requestContext<RequestContext>();

/** What names a request in the log. */
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

/** Who wants the body of a request read; only for routes behind `authenticate`. */
export function callerOf(request: Request): { accountId: number; isGone: () => boolean } {
  return { accountId: accountOf(request).accountId, isGone: () => request.socket.destroyed };
}

/** The key's holder; only for routes behind `authenticate`. */
export function accountOf(request: Request): AuthenticatedKey {
  const { authenticated } = contextOf(request);
  if (!authenticated) throw new Error('a route without authentication');
  return authenticated;
}
