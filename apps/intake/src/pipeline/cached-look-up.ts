import { Problem } from '@orders/domain/problems.ts';
import { batchCalls } from '@orders/runtime/concurrency/micro-batcher.ts';
import { LRUCache } from 'lru-cache';

/** Looks up values by credentials that anybody can invent, such as API keys, and caches what it finds for three seconds. */
export interface CachedLookUp<Value> {
  /** The cached value. */
  cached(credential: string): Value | undefined;
  /**
   * The value, from the cache or the database.
   *
   * @param options.isFresh reads it from the database.
   * @returns undefined for an unknown credential.
   * @throws {Problem} `overloaded` if too many unknown credentials wait; a database error if the look-up fails.
   */
  find(credential: string, options?: { isFresh: boolean }): Promise<Value | undefined>;
}

/** Together with the time of a look-up, this must stay below 5 s: the guaranteed time until a revoked credential stops working. */
const CACHE_TTL_MS = 3000;
const MAX_CACHED = 10_000;
/** Max ids in one look-up. */
const MAX_IDS = 500;
/** Max unknown credentials that wait for a look-up; more get 503. */
const MAX_UNKNOWN = 2000;

/**
 * @param deps.idOf what is looked up for a credential, such as its hash.
 * @param deps.find values by id, in the same order.
 * @param deps.onFound is called for each value that was read from the database.
 */
export function createCachedLookUp<Value extends object>(deps: {
  idOf: (credential: string) => string;
  find: (ids: readonly string[]) => Promise<readonly (Value | null)[]>;
  onFound?: (value: Value) => void;
}): CachedLookUp<Value> {
  const cache = new LRUCache<string, Value>({
    max: MAX_CACHED,
    ttl: CACHE_TTL_MS,
    // A look-up whose entry is evicted meanwhile still resolves for its waiters.
    ignoreFetchAbort: true,
    fetchMethod: (credential) => lookUp(deps.idOf(credential)),
  });
  /** Looks up all waiting ids in one statement, so look-ups use at most one connection. */
  const batchLookUps = () =>
    batchCalls<string, Value | null>({
      maxConcurrent: 1,
      nextBatchSize: (waiting) => Math.min(waiting.length, MAX_IDS),
      work: deps.find,
    });
  // Credentials that were valid before have a queue of their own, so that a flood of invented ones does not delay them.
  const knownIds = new LRUCache<string, true>({ max: MAX_CACHED });
  const lookUpKnown = batchLookUps();
  const lookUpUnknown = batchLookUps();
  let unknownInFlight = 0;

  async function lookUp(id: string): Promise<Value | undefined> {
    const isKnown = knownIds.has(id);
    if (!isKnown && unknownInFlight >= MAX_UNKNOWN) throw new Problem('overloaded');
    if (!isKnown) unknownInFlight += 1;
    try {
      const value = await (isKnown ? lookUpKnown : lookUpUnknown)(id);
      if (!value) {
        knownIds.delete(id);
        return undefined;
      }
      knownIds.set(id, true);
      deps.onFound?.(value);
      return value;
    } finally {
      if (!isKnown) unknownInFlight -= 1;
    }
  }

  return {
    cached: (credential) => cache.get(credential),
    async find(credential, { isFresh } = { isFresh: false }) {
      if (isFresh) return cache.fetch(credential, { forceRefresh: true });
      return cache.get(credential) ?? (await cache.fetch(credential));
    },
  };
}
