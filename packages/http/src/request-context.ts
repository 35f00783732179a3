import type { IncomingMessage } from 'node:http';

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
