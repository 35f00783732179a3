import { Problem } from '@orders/domain';
import { createFairBudget } from '@orders/runtime';
import type { RequestHandler } from 'express';
import { COMPRESSOR_BYTES } from './compress-replies.ts';
import { contextOf } from './context.ts';
import { OPERATORS } from './deps.ts';

/** Bytes of replies that are not sent yet, of all accounts together. A client that does not read has a minute. */
const MAX_BYTES = 134_217_728;
/** Not counted: a thousand connections of these are less than a tenth of it. */
const SMALL_BYTES = 8192;

/**
 * Sends JSON within a budget of bytes that accounts share: one that reads its replies slowly, or not at all, leaves room for the others.
 * It replaces `response.json`, which then throws where there is no room.
 *
 * @throws {Problem} `overloaded`.
 */
export function boundReplies(): RequestHandler {
  const budget = createFairBudget(MAX_BYTES);
  return (request, response, next) => {
    response.json = (value) => {
      // Its client has disconnected meanwhile: the event that gives back what is taken here is over.
      if (response.destroyed) return response;
      const body = Buffer.from(JSON.stringify(value));
      if (body.length > SMALL_BYTES) {
        const { accountId = OPERATORS } = contextOf(request);
        const bytes = body.length + COMPRESSOR_BYTES;
        if (!budget.take(accountId, bytes)) throw new Problem('overloaded');
        response.once('close', () => budget.release(accountId, bytes));
      }
      return response.type('json').send(body);
    };
    next();
  };
}
