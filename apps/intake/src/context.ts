import type { IncomingMessage } from 'node:http';
import type { KeyHolder } from '@orders/database';
import { requestContext } from '@orders/http';
import type { Span } from '@orders/runtime';
import type { Request } from 'express';

/** What the steps of one request tell each other and the log. */
export interface RequestContext {
  requestId: string;
  startedAt: number;
  /** The route's pattern, never the path: a path can hold anything. */
  route: string;
  holder?: KeyHolder;
  /** Looks the holder up anew, whatever is remembered of it. */
  findHolderAgain?: () => Promise<KeyHolder | null>;
  /** The one made for this request, as soon as there is one; in the end the one that it was answered with. */
  receiptId?: string;
  /** Null where this request is not traced. */
  span: Span | null;
  /** Gives back the place that the request holds among those in flight, if it holds one; called at its end at the latest. */
  leave: () => void;
  problem?: string;
  /** What became of the orders of a batch, for the log. */
  batch?: { orders: number; refused: number };
}

/** `contextOf` gives what `beginRequest` made. */
export const { setContext, contextOf } = requestContext<RequestContext>();

/** What names a request in the log. */
export function namesOf({ requestId, holder, receiptId, span }: RequestContext): Record<string, string | number> {
  return {
    request_id: requestId,
    ...(holder && { account_id: holder.accountId }),
    ...(receiptId && { receipt_id: receiptId }),
    ...(span && { trace_id: span.traceId }),
  };
}

const PLACE = Symbol('place');

type WithPlace = IncomingMessage & { [PLACE]?: () => void };

/** Lets a request hold its place among those in flight until `leave` is called. */
export function keepPlace(request: WithPlace, leave: () => void): void {
  request[PLACE] = leave;
}

/** How the request leaves its place. */
export function placeOf(request: WithPlace): () => void {
  return request[PLACE] ?? (() => {});
}

/** The key's holder; only for routes behind `authenticate`. */
export function holderOf(request: Request): KeyHolder {
  const { holder } = contextOf(request);
  if (!holder) throw new Error('a route without authentication');
  return holder;
}
