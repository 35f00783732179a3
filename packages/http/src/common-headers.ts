import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const VALID_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The client's X-Request-Id if it is valid (contract, section 2), else a new id. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && VALID_REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** Takes effect behind a proxy that terminates TLS; browsers ignore it over plain HTTP (RFC 6797, section 8.1). */
const HSTS = 'max-age=31536000';

/** Sets the headers of every reply to a sender. */
export function setCommonHeaders(response: ServerResponse, requestId: string): void {
  response
    .setHeader('X-Request-Id', requestId)
    .setHeader('Cache-Control', 'no-store')
    .setHeader('X-Content-Type-Options', 'nosniff')
    .setHeader('Strict-Transport-Security', HSTS);
}

/** Typed state that is attached to a request, for its handlers and the log. */
export function requestContext<Context extends object>(): {
  setContext(request: IncomingMessage, context: Context): void;
  /** @throws if the request has no context. */
  contextOf(request: IncomingMessage): Context;
} {
  const key: unique symbol = Symbol('context');
  type WithContext = IncomingMessage & { [key]?: Context };
  return {
    setContext(request: WithContext, context) {
      request[key] = context;
    },
    contextOf(request: WithContext) {
      const context = request[key];
      if (!context) throw new Error('the request has no context');
      return context;
    },
  };
}
