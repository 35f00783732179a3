import { Problem } from '@orders/domain';
import type { RequestHandler } from 'express';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimit } from './config.ts';
import { holderOf } from './context.ts';

/**
 * Holds each account to its rate, over all intake processes where they share a Redis, else in each for itself; so too while Redis does
 * not answer. Says what is left in the `RateLimit` headers (IETF draft-ietf-httpapi-ratelimit-headers).
 *
 * @throws {Problem} `rate_limited`.
 */
export function limitRate(limit: RateLimit | undefined, redis: Redis | null): RequestHandler {
  if (!limit) return (_request, _response, next) => next();
  const seconds = limit.windowMs / 1000;
  const options = { points: limit.requests, duration: seconds, keyPrefix: 'rate' };
  const alone = new RateLimiterMemory(options);
  const limiter = redis ? new RateLimiterRedis({ ...options, storeClient: redis, insuranceLimiter: alone }) : alone;

  return async (request, response, next) => {
    const { accountId } = holderOf(request);
    const { outcome, isRefused } = await limiter.consume(String(accountId)).then(
      (granted) => ({ outcome: granted, isRefused: false }),
      (refusal: unknown) => {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        return { outcome: refusal, isRefused: true };
      },
    );
    const reset = Math.max(1, Math.ceil(outcome.msBeforeNext / 1000));
    response.set({
      'RateLimit-Policy': `"account";q=${limit.requests};w=${seconds}`,
      RateLimit: `"account";r=${outcome.remainingPoints};t=${reset}`,
    });
    if (isRefused) throw new Problem('rate_limited', { headers: { 'Retry-After': String(reset) } });
    next();
  };
}
