import type { IncomingMessage } from 'node:http';
import { requestContext } from '@orders/http/common-headers.ts';
import type { Span } from '@orders/runtime/observability/span.ts';
import type { Request } from 'express';
import type { AuthenticatedKey } from './pipeline/find-authenticated-keys.ts';
import type { SourceOfDelivery } from './pipeline/find-sources.ts';

export type Sender = AuthenticatedKey | SourceOfDelivery;

/** State of one request, shared by its handlers and the log. */
export interface RequestContext {
  requestId: string;
  startedAt: number;
  /** The route's pattern, never the path: a path may contain anything. */
  route: string;
  /** The API key, or the source of a delivery, whose signature may not be checked yet. */
  authenticated?: Sender;
  /** Looks the sender up again, bypassing the cache. */
  authenticateAgain?: () => Promise<Sender | null>;
  /** The id created for this request; after a replay, the original receipt's. */
  receiptId?: string;
  /** Null if the request is not traced. */
  span: Span | null;
  slot: RequestSlot;
  problemCode?: string;
  /** Order counts of an HTTP batch, for the log. */
  batch?: { orders: number; refused: number };
}

/** What one request occupies: the bytes of its body while they arrive and, once the body is complete, a slot. Created by `Admission`. */
export interface RequestSlot {
  /**
   * Counts bytes that just arrived. Waits for other bytes to be released if the account's share is used up.
   *
   * @returns false if there is still no room, or the body was cut off.
   */
  addBytes(count: number): boolean | Promise<boolean>;
  /** Acquires a slot for the complete body, waiting up to a second. @returns false if the account gets none. */
  acquire(): boolean | Promise<boolean>;
  /** Releases everything, at the latest when the request ends. Idempotent; does nothing while `holdUntil` runs. */
  release(): void;
  /**
   * Holds everything until `work` ends, even if the client disconnects: a body that is being recorded still takes memory. Then removes the
   * body from the request, unless the work failed.
   */
  holdUntil<Result>(work: () => Promise<Result>): Promise<Result>;
}

export const { setContext, contextOf } = requestContext<RequestContext>();

const arrivals = new WeakMap<IncomingMessage, number>();

/** @param at when a request arrived that waited before it is served, by `performance.now()`. */
export function setArrival(request: IncomingMessage, at: number): void {
  arrivals.set(request, at);
}

/** When a request arrived, which is now unless it waited. */
export function arrivalOf(request: IncomingMessage): number {
  return arrivals.get(request) ?? performance.now();
}

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

/** The caller of a parser task; only for routes behind `authenticate` or `identifySource`. */
export function callerOf(request: Request): { accountId: number; isGone: () => boolean } {
  return { accountId: senderOf(request).accountId, isGone: () => request.socket.destroyed };
}

/** The sender of a request; only for routes behind `authenticate` or `identifySource`. */
export function senderOf(request: Request): Sender {
  const { authenticated } = contextOf(request);
  if (!authenticated) throw new Error('the route has no authentication');
  return authenticated;
}

/** The API key of a request; only for routes behind `authenticate`. */
export function keyOf(request: Request): AuthenticatedKey {
  const sender = senderOf(request);
  if (!('keyId' in sender)) throw new Error('the route takes no API key');
  return sender;
}

/** The source of a delivery; only for routes behind `identifySource`. */
export function sourceOf(request: Request): SourceOfDelivery {
  const sender = senderOf(request);
  if (!('sourceNumber' in sender)) throw new Error('the route is not of a source');
  return sender;
}
