import { Problem } from '@orders/domain';
import type { RequestHandler } from 'express';
import { accountIdOf } from './context.ts';

const BUSY = {
  detail: 'This is already under way for this account. Retry when it has ended.',
  headers: { 'Retry-After': '1' },
};

/**
 * Lets an account have so many requests of a costly kind at once, in this process, so that none takes all of the database's connections.
 *
 * @throws {Problem} `rate_limited`.
 */
export function limitAtOnce(max: number): RequestHandler {
  const underWay = new Map<number, number>();
  return (request, response, next) => {
    const accountId = accountIdOf(request);
    const count = underWay.get(accountId) ?? 0;
    if (count >= max) throw new Problem('rate_limited', BUSY);
    underWay.set(accountId, count + 1);
    response.once('close', () => {
      const left = (underWay.get(accountId) ?? 1) - 1;
      if (left > 0) underWay.set(accountId, left);
      else underWay.delete(accountId);
    });
    next();
  };
}
