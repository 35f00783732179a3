import { Problem, type RateLimit } from '@orders/domain';
import type { RedisClient } from '@orders/queue';
import type { RequestHandler, Response } from 'express';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { holderOf } from './context.ts';

/**
 * Holds each account to its own rate, or else to the general one: so many requests in a window that begins with the first of them. All
 * intake processes that share a Redis count together; without one, or while it does not answer, each counts for itself, from zero. Says
 * what is left in the `RateLimit` headers (IETF draft-ietf-httpapi-ratelimit-headers-11).
 *
 * @throws {Problem} `rate_limited`.
 */
export function limitRate(general: RateLimit | undefined, redis: RedisClient | null): RequestHandler {
  // It only counts, and for every account; how many are too many is decided below, since that differs.
  const options = { points: Number.MAX_SAFE_INTEGER, duration: 1, keyPrefix: 'rate' };
  const alone = new RateLimiterMemory(options);
  const counter = redis
    ? new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter: alone })
    : alone;

  async function hold(accountId: number, { requests, seconds }: RateLimit, response: Response): Promise<void> {
    // A limit that is changed begins to count anew: what was refused by the one before is no part of it, nor is the rest of its window.
    const key = `${accountId}:${requests}/${seconds}`;
    const { consumedPoints, msBeforeNext } = await counter.consume(key, 1, { customDuration: seconds });
    const reset = Math.max(1, Math.ceil(msBeforeNext / 1000));
    response
      .setHeader('RateLimit-Policy', `"account";q=${requests};w=${seconds}`)
      .setHeader('RateLimit', `"account";r=${Math.max(0, requests - consumedPoints)};t=${reset}`);
    if (consumedPoints > requests) throw new Problem('rate_limited', { headers: { 'Retry-After': String(reset) } });
  }

  return (request, response, next) => {
    const { accountId, rateLimit } = holderOf(request);
    const limit = rateLimit ?? general;
    if (!limit || limit === 'none') return next();
    return hold(accountId, limit, response).then(() => next());
  };
}
