import { Problem } from '@orders/domain/problems.ts';
import type { RateLimit } from '@orders/domain/rate-limit.ts';
import type { RedisClient } from '@orders/queue/open-redis.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { Request, RequestHandler, Response } from 'express';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { senderOf } from '../request-context.ts';

export interface RateLimits {
  /**
   * Counts a request.
   *
   * @throws {Problem} `rate_limited`.
   */
  limit: RequestHandler;
  /**
   * Counts a status look-up; the limit is `STATUS_LOOKUPS_PER_REQUEST` times the account's limit of requests.
   *
   * @throws {Problem} `rate_limited`.
   */
  limitStatus: RequestHandler;
  /**
   * Counts a request that costs as much as several, before its work starts. It is rejected only if an earlier request exceeded the limit.
   * If this request exceeds the limit itself, the window is extended, so that the rate holds on average.
   *
   * @param cost in requests, including the one that `limit` counted.
   * @throws {Problem} `rate_limited` if another request has exceeded the limit meanwhile; then nothing is counted.
   */
  charge(request: Request, response: Response, cost: number): Promise<void>;
}

/** Clients poll a receipt several times; a look-up costs about a fifth of an order. */
export const STATUS_LOOKUPS_PER_REQUEST = 5;
/** Max window: the longest time that both Node's timers and Redis accept. */
const MAX_WINDOW_MS = 2 ** 31 - 1;

/** `addCost` in Redis, atomically. */
const CHARGE = `
local limit, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local counted = tonumber(redis.call('get', KEYS[1]) or '0')
local ms_left = redis.call('pttl', KEYS[1])
if ms_left <= 0 then ms_left = window end
if counted > limit then return {-1, ms_left} end
counted = counted + cost
local excess = math.min(cost, counted - limit)
if excess > 0 then ms_left = math.min(ms_left + math.ceil(excess / limit * window), ${MAX_WINDOW_MS}) end
redis.call('set', KEYS[1], counted, 'PX', ms_left)
return {counted, ms_left}`;

/**
 * Limits each account to its own rate or the default: N requests in a window that starts with the first of them. All intake processes
 * with the same Redis share the counters; without Redis, or while it is unreachable, each process counts alone, from zero. The
 * `RateLimit` headers follow draft-ietf-httpapi-ratelimit-headers-11.
 */
export function createRateLimits(defaultLimit: RateLimit | undefined, redis: RedisClient | null): RateLimits {
  // The limiter only counts; limits differ by account and are applied below.
  const options = { points: Number.MAX_SAFE_INTEGER, duration: 1, keyPrefix: 'rate' };
  const local = new RateLimiterMemory(options);
  const counter = redis
    ? new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter: local })
    : local;
  const runExclusively = createFairQueue<string>(1);

  // The key contains the limit, so a changed limit starts with a new count and a new window.
  const keyOf = (accountId: number, { requests, seconds }: RateLimit) => `${accountId}:${requests}/${seconds}`;

  async function count(key: string, policy: string, limit: RateLimit, response: Response): Promise<void> {
    const { consumedPoints, msBeforeNext } = await counter.consume(key, 1, { customDuration: limit.seconds });
    const reset = setRateLimitHeaders(response, policy, limit, consumedPoints, msBeforeNext);
    if (consumedPoints > limit.requests) throw rateLimited(reset);
  }

  /**
   * Adds the cost of a request beyond the one that was already counted, unless the limit was exceeded before.
   *
   * @returns the count, or -1 if the limit was exceeded before, and the milliseconds until the window ends.
   */
  async function addCost(key: string, { requests, seconds }: RateLimit, cost: number): Promise<[number, number]> {
    const windowMs = seconds * 1000;
    try {
      if (redis?.status === 'ready') {
        return (await redis.eval(CHARGE, 1, counter.getKey(key), requests, windowMs, cost)) as [number, number];
      }
    } catch {
      // Redis is unreachable: this process counts alone.
    }
    return runExclusively(key, async () => {
      const { consumedPoints: counted = 0, msBeforeNext: msLeft = windowMs } = (await local.get(key)) ?? {};
      if (counted > requests) return [-1, msLeft];
      const excess = Math.min(cost, counted + cost - requests);
      const extendedMs =
        excess > 0 ? Math.min(msLeft + Math.ceil((excess / requests) * windowMs), MAX_WINDOW_MS) : msLeft;
      await local.set(key, counted + cost, extendedMs / 1000);
      return [counted + cost, extendedMs];
    });
  }

  const limitOf = (request: Request): RateLimit | null => {
    const limit = senderOf(request).rateLimit ?? defaultLimit;
    return !limit || limit === 'none' ? null : limit;
  };

  return {
    limit(request, response, next) {
      const limit = limitOf(request);
      if (!limit) return next();
      return count(keyOf(senderOf(request).accountId, limit), 'account', limit, response).then(() => next());
    },
    limitStatus(request, response, next) {
      const limit = limitOf(request);
      if (!limit) return next();
      const lookups = { ...limit, requests: limit.requests * STATUS_LOOKUPS_PER_REQUEST };
      const key = `${keyOf(senderOf(request).accountId, lookups)}:status`;
      return count(key, 'status', lookups, response).then(() => next());
    },
    async charge(request, response, cost) {
      const limit = limitOf(request);
      if (!limit || cost <= 1) return;
      const [counted, msLeft] = await addCost(keyOf(senderOf(request).accountId, limit), limit, cost - 1);
      const reset = setRateLimitHeaders(response, 'account', limit, counted < 0 ? limit.requests : counted, msLeft);
      if (counted < 0) throw rateLimited(reset);
    },
  };
}

function rateLimited(seconds: number): Problem {
  return new Problem('rate_limited', { headers: { 'Retry-After': String(seconds) } });
}

/** @returns the seconds until the window ends. */
function setRateLimitHeaders(
  response: Response,
  policy: string,
  { requests, seconds }: RateLimit,
  counted: number,
  msLeft: number,
): number {
  const reset = Math.max(1, Math.ceil(msLeft / 1000));
  response
    .setHeader('RateLimit-Policy', `"${policy}";q=${requests};w=${seconds}`)
    .setHeader('RateLimit', `"${policy}";r=${Math.max(0, requests - counted)};t=${reset}`);
  return reset;
}
