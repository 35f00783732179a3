import { Problem } from '@orders/domain/problems.ts';
import { createFairBudget } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { Request, RequestHandler } from 'express';

/** Smaller responses are not counted: a thousand of them take 8 MB. */
const SMALL_BYTES = 8192;

/**
 * Bounds the memory of unsent responses by a budget that accounts share fairly, so that slow readers of one account leave room for the
 * others. A client that does not read is disconnected after `IDLE_TIMEOUT`. Replaces `response.json`, and `response.send` for a Buffer; they
 * throw when the budget is spent.
 *
 * @param options.maxBytes the budget of all accounts.
 * @param options.overheadBytes what a response takes beside its body.
 * @throws {Problem} `overloaded`.
 */
export function limitResponseMemory(options: {
  maxBytes: number;
  overheadBytes?: number;
  accountOf: (request: Request) => number;
}): RequestHandler {
  const { maxBytes, overheadBytes = 0, accountOf } = options;
  const budget = createFairBudget(maxBytes);
  return (request, response, next) => {
    const send = response.send.bind(response);
    response.send = (body) => {
      // The client has disconnected: `close`, which returns the bytes to the budget, was already emitted.
      if (response.destroyed) return response;
      if (Buffer.isBuffer(body) && body.length > SMALL_BYTES) {
        const accountId = accountOf(request);
        const bytes = body.length + overheadBytes;
        if (!budget.take(accountId, bytes)) throw new Problem('overloaded');
        response.once('close', () => budget.release(accountId, bytes));
      }
      return send(body);
    };
    response.json = (value) =>
      response.destroyed ? response : response.type('json').send(Buffer.from(JSON.stringify(value)));
    next();
  };
}
