import { Problem, type RateLimit } from '@orders/domain';
import type { RedisClient } from '@orders/queue';
import type { Request, RequestHandler, Response } from 'express';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { holderOf } from './context.ts';

export interface RateLimits {
  /**
   * Counts a request.
   *
   * @throws {Problem} `rate_limited`.
   */
  limit: RequestHandler;
  /**
   * Counts the orders of a batch, which was counted as one request, as a request each. What of them is over the limit is paid off before
   * the next request is let in, so that the rate holds on average. Never fails, and refuses nothing.
   */
  charge(request: Request, response: Response, orders: number): Promise<void>;
}

/** Adds time to a window, and returns its milliseconds from now; what is counted in it stays more than its limit. */
const PROLONG = `
local left = math.max(redis.call('pttl', KEYS[1]), 0) + ARGV[2]
left = math.min(left, ${2 ** 31 - 1})
redis.call('set', KEYS[1], ARGV[1], 'PX', left)
return left`;

/**
 * Holds each account to its own rate, or else to the general one: so many requests in a window that begins with the first of them. All
 * intake processes that share a Redis count together; without one, or while it does not answer, each counts for itself, from zero. Says
 * what is left in the `RateLimit` headers (IETF draft-ietf-httpapi-ratelimit-headers-11).
 */
export function createRateLimits(general: RateLimit | undefined, redis: RedisClient | null): RateLimits {
  // It only counts, and for every account; how many are too many is decided below, since that differs.
  const options = { points: Number.MAX_SAFE_INTEGER, duration: 1, keyPrefix: 'rate' };
  const alone = new RateLimiterMemory(options);
  const counter = redis
    ? new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter: alone })
    : alone;

  // A limit that is changed begins to count anew: what was refused by the one before is no part of it, nor is the rest of its window.
  const keyOf = (accountId: number, { requests, seconds }: RateLimit) => `${accountId}:${requests}/${seconds}`;

  async function hold(accountId: number, limit: RateLimit, response: Response): Promise<void> {
    const key = keyOf(accountId, limit);
    const { consumedPoints, msBeforeNext } = await counter.consume(key, 1, { customDuration: limit.seconds });
    const reset = tellWhatIsLeft(response, limit, consumedPoints, msBeforeNext);
    if (consumedPoints > limit.requests)
      throw new Problem('rate_limited', { headers: { 'Retry-After': String(reset) } });
  }

  async function charge(accountId: number, limit: RateLimit, response: Response, orders: number): Promise<void> {
    const key = keyOf(accountId, limit);
    const counted = await counter.consume(key, orders, { customDuration: limit.seconds });
    const overdrawn = Math.min(orders, counted.consumedPoints - limit.requests);
    const left =
      overdrawn > 0
        ? await prolong(key, counted.consumedPoints, Math.ceil((overdrawn / limit.requests) * limit.seconds * 1000))
        : counted.msBeforeNext;
    tellWhatIsLeft(response, limit, counted.consumedPoints, left);
  }

  async function prolong(key: string, points: number, ms: number): Promise<number> {
    try {
      if (redis?.status === 'ready') return Number(await redis.eval(PROLONG, 1, counter.getKey(key), points, ms));
    } catch {
      // It went away; then this process counts for itself.
    }
    const left = Math.min(((await alone.get(key))?.msBeforeNext ?? 0) + ms, 2 ** 31 - 1);
    await alone.set(key, points, left / 1000);
    return left;
  }

  const limitOf = (request: Request): RateLimit | null => {
    const limit = holderOf(request).rateLimit ?? general;
    return !limit || limit === 'none' ? null : limit;
  };

  return {
    limit(request, response, next) {
      const limit = limitOf(request);
      if (!limit) return next();
      return hold(holderOf(request).accountId, limit, response).then(() => next());
    },
    async charge(request, response, orders) {
      const limit = limitOf(request);
      if (limit && orders > 1) await charge(holderOf(request).accountId, limit, response, orders - 1);
    },
  };
}

/** @returns the seconds until the window ends. */
function tellWhatIsLeft(response: Response, limit: RateLimit, counted: number, msLeft: number): number {
  const { requests, seconds } = limit;
  const reset = Math.max(1, Math.ceil(msLeft / 1000));
  response
    .setHeader('RateLimit-Policy', `"account";q=${requests};w=${seconds}`)
    .setHeader('RateLimit', `"account";r=${Math.max(0, requests - counted)};t=${reset}`);
  return reset;
}
