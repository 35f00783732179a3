import type { IncomingMessage } from 'node:http';

/** What the steps of one request tell each other and the log, kept with the request. */
export function requestContext<Context extends object>(): {
  /** Gives a request its context, once. */
  setContext(request: IncomingMessage, context: Context): void;
  /** The context that the request was given. */
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
      if (!context) throw new Error('a request without context');
      return context;
    },
  };
}
