import { Problem } from '@orders/domain';
import { createFairBudget } from '@orders/runtime';
import type { RequestHandler } from 'express';
import { COMPRESSOR_BYTES } from './compress-responses.ts';
import { contextOf, NO_ACCOUNT_ID } from './context.ts';

/** Max bytes of unsent responses over all accounts. A client that does not read is disconnected after a minute. */
const MAX_BYTES = 134_217_728;
/** Smaller responses are not counted: a thousand of them take less than a tenth of the budget. */
const SMALL_BYTES = 8192;

/**
 * Bounds the memory of unsent responses by a budget that accounts share fairly, so that slow readers of one account leave room for the
 * others. Replaces `response.json`, and `response.send` for a Buffer; they throw when the budget is spent.
 *
 * @throws {Problem} `overloaded`.
 */
export function limitResponseMemory(): RequestHandler {
  const budget = createFairBudget(MAX_BYTES);
  return (request, response, next) => {
    const send = response.send.bind(response);
    response.send = (body) => {
      // The client has disconnected: `close`, which returns the bytes to the budget, was already emitted.
      if (response.destroyed) return response;
      if (Buffer.isBuffer(body) && body.length > SMALL_BYTES) {
        const { accountId = NO_ACCOUNT_ID } = contextOf(request);
        const bytes = body.length + COMPRESSOR_BYTES;
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
