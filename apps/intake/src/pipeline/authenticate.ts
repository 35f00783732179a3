import type { IncomingMessage } from 'node:http';
import { type AuthenticatedKey, type Database, findAuthenticatedKeys, touchKey } from '@orders/database';
import { hashApiKey, Problem } from '@orders/domain';
import { readBearerKey } from '@orders/http';
import { createMicroBatcher } from '@orders/runtime';
import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { contextOf } from '../request-context.ts';

/** Finds out whose key a request carries. */
export interface Authenticator {
  /**
   * Names the account of a request by its Bearer key (RFC 6750).
   *
   * @throws {Problem} `missing_api_key`, `invalid_api_key`, `account_suspended`, or `overloaded` for an unknown key among too many; a
   * database error when the look-up fails.
   */
  authenticate: RequestHandler;
  /** The account of a request whose key was looked up in the last seconds; undefined for any other request. */
  rememberedAccount(request: IncomingMessage): number | undefined;
}

// Together with the look-up itself this keeps the promise that a revoked key stops working within 5 seconds.
const REMEMBERED_MS = 3000;
const MAX_REMEMBERED = 10_000;
/** Max keys in one look-up. */
const MAX_KEYS = 500;
/** Max keys never seen here that wait for a look-up; more get 503. */
const MAX_UNKNOWN = 2000;

/** Creates the authenticator of one process. */
export function createAuthenticator(database: Database): Authenticator {
  const remembered = new LRUCache<string, AuthenticatedKey>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
    // A look-up that is evicted meanwhile still answers those who wait for it.
    ignoreFetchAbort: true,
    fetchMethod: (key) => lookUp(hashApiKey(key).toString('base64')),
  });
  // Anybody can make up keys of the right form, so keys that were valid before never queue behind those that were not.
  const known = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  const lookUpKnown = createLookUp(database);
  const lookUpUnknown = createLookUp(database);
  let unknown = 0;

  async function lookUp(hash: string): Promise<AuthenticatedKey | undefined> {
    const isKnown = known.has(hash);
    if (!isKnown && unknown >= MAX_UNKNOWN) throw new Problem('overloaded');
    if (!isKnown) unknown += 1;
    try {
      const authenticated = await (isKnown ? lookUpKnown : lookUpUnknown)(hash);
      if (!authenticated) known.delete(hash);
      else {
        known.set(hash, true);
        // When a key was last used is worth knowing, but never worth a refusal.
        touchKey(database, authenticated.accountId, authenticated.keyId).catch(() => {});
      }
      return authenticated;
    } finally {
      if (!isKnown) unknown -= 1;
    }
  }

  return {
    async authenticate(request, _response, next) {
      const key = readBearerKey(request);
      const authenticated = remembered.get(key) ?? (await remembered.fetch(key));
      if (!authenticated) throw new Problem('invalid_api_key');
      const context = contextOf(request);
      context.authenticated = authenticated;
      context.authenticateAgain = async () => (await remembered.fetch(key, { forceRefresh: true })) ?? null;
      if (authenticated.suspended) throw new Problem('account_suspended');
      next();
    },
    rememberedAccount(request) {
      try {
        return remembered.get(readBearerKey(request))?.accountId;
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

/** Looks keys up, all that wait in one statement: however many there are, they use one connection. */
function createLookUp(database: Database): (hash: string) => Promise<AuthenticatedKey | undefined> {
  const add = createMicroBatcher<Waiting>({
    maxConcurrent: 1,
    take: (waiting) => Math.min(waiting.length, MAX_KEYS),
    async work(group) {
      try {
        const hashes = group.map(({ hash }) => Buffer.from(hash, 'base64'));
        const found = await findAuthenticatedKeys(database, hashes);
        for (const [index, { resolve }] of group.entries()) resolve(found[index] ?? undefined);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    },
  });
  return (hash) => new Promise((resolve, reject) => add({ hash, resolve, reject }));
}
