import type { IncomingMessage } from 'node:http';
import type { KeyHolder } from '@orders/database';
import { requestContext } from '@orders/http';
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
  receiptId?: string;
  /** Gives back the place that the request holds among those in flight, if it holds one; called at its end at the latest. */
  leave: () => void;
  problem?: string;
}

/** `contextOf` gives what `beginRequest` made. */
export const { setContext, contextOf } = requestContext<RequestContext>();

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
