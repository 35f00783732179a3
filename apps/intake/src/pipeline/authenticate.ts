import type { IncomingMessage } from 'node:http';
import { type AuthenticatedKey, type Database, findAuthenticatedKeys, touchKey } from '@orders/database';
import { hashApiKey, Problem } from '@orders/domain';
import { readBearerKey } from '@orders/http';
import { createMicroBatcher } from '@orders/runtime';
import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { contextOf } from '../request-context.ts';

export interface Authenticator {
  /**
   * Finds the account of a request by its Bearer key (RFC 6750).
   *
   * @throws {Problem} `missing_api_key`, `invalid_api_key`, `account_suspended`, or `overloaded` if too many unknown keys wait; a
   * database error if the look-up fails.
   */
  authenticate: RequestHandler;
  /** The account of a request whose key is cached; undefined otherwise. */
  cachedAccount(request: IncomingMessage): number | undefined;
}

/** Together with the time of a look-up, this must stay below 5 s: the guaranteed time until a revoked key stops working. */
const CACHE_TTL_MS = 3000;
const MAX_CACHED_KEYS = 10_000;
/** Max keys in one look-up. */
const MAX_KEYS = 500;
/** Max unknown keys that wait for a look-up; more get 503. */
const MAX_UNKNOWN = 2000;

export function createAuthenticator(database: Database): Authenticator {
  const cache = new LRUCache<string, AuthenticatedKey>({
    max: MAX_CACHED_KEYS,
    ttl: CACHE_TTL_MS,
    // A look-up whose entry is evicted meanwhile still resolves for its waiters.
    ignoreFetchAbort: true,
    fetchMethod: (key) => lookUp(hashApiKey(key).toString('base64')),
  });
  // Anybody can invent well-formed keys, so keys that were valid before have their own look-up queue.
  const knownHashes = new LRUCache<string, true>({ max: MAX_CACHED_KEYS });
  const lookUpKnown = createLookUp(database);
  const lookUpUnknown = createLookUp(database);
  let unknownInFlight = 0;

  async function lookUp(hash: string): Promise<AuthenticatedKey | undefined> {
    const isKnown = knownHashes.has(hash);
    if (!isKnown && unknownInFlight >= MAX_UNKNOWN) throw new Problem('overloaded');
    if (!isKnown) unknownInFlight += 1;
    try {
      const authenticated = await (isKnown ? lookUpKnown : lookUpUnknown)(hash);
      if (!authenticated) knownHashes.delete(hash);
      else {
        knownHashes.set(hash, true);
        // The time of last use is informative; a failure to store it must not fail the request.
        touchKey(database, authenticated.accountId, authenticated.keyId).catch(() => {});
      }
      return authenticated;
    } finally {
      if (!isKnown) unknownInFlight -= 1;
    }
  }

  return {
    async authenticate(request, _response, next) {
      const key = readBearerKey(request);
      const authenticated = cache.get(key) ?? (await cache.fetch(key));
      if (!authenticated) throw new Problem('invalid_api_key');
      const context = contextOf(request);
      context.authenticated = authenticated;
      context.authenticateAgain = async () => (await cache.fetch(key, { forceRefresh: true })) ?? null;
      if (authenticated.suspended) throw new Problem('account_suspended');
      next();
    },
    cachedAccount(request) {
      try {
        return cache.get(readBearerKey(request))?.accountId;
      } catch {
        return undefined;
      }
    },
  };
}

interface Waiting {
  hash: string;
  resolve: (authenticated: AuthenticatedKey | undefined) => void;
  reject: (error: unknown) => void;
}

/** Looks up all waiting keys in one statement, so look-ups use at most one connection. */
function createLookUp(database: Database): (hash: string) => Promise<AuthenticatedKey | undefined> {
  const add = createMicroBatcher<Waiting>({
    maxConcurrent: 1,
    nextBatchSize: (waiting) => Math.min(waiting.length, MAX_KEYS),
    async work(batch) {
      try {
        const hashes = batch.map(({ hash }) => Buffer.from(hash, 'base64'));
        const found = await findAuthenticatedKeys(database, hashes);
        for (const [index, { resolve }] of batch.entries()) resolve(found[index] ?? undefined);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    },
  });
  return (hash) => new Promise((resolve, reject) => add({ hash, resolve, reject }));
}
