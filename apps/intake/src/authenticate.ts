import { type Database, findKeyHolder, type KeyHolder, touchKey } from '@orders/database';
import { hashApiKey, Problem } from '@orders/domain';
import { readBearerKey } from '@orders/http';
import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { contextOf } from './context.ts';

// Together with the look-up itself this keeps the promise that a revoked key stops working within 5 seconds.
const REMEMBERED_MS = 3000;

/**
 * Names the account by its Bearer key (RFC 6750).
 *
 * @throws {Problem} `missing_api_key`, `invalid_api_key` or `account_suspended`; a database error when the look-up fails.
 */
export function authenticate(database: Database): RequestHandler {
  const holders = new LRUCache<string, { holder: KeyHolder | null }>({
    max: 10_000,
    ttl: REMEMBERED_MS,
    // A look-up that is pushed out by others meanwhile still answers those who wait for it.
    ignoreFetchAbort: true,
    fetchMethod: async (hash) => {
      const holder = await findKeyHolder(database, Buffer.from(hash, 'base64'));
      // When a key was last used is worth knowing, but never worth a refusal.
      if (holder) touchKey(database, holder.accountId, holder.keyId).catch(() => {});
      return { holder };
    },
  });

  return async (request, _response, next) => {
    const hash = hashApiKey(readBearerKey(request)).toString('base64');
    const holder = (holders.get(hash) ?? (await holders.fetch(hash)))?.holder;
    if (!holder) throw new Problem('invalid_api_key');
    const context = contextOf(request);
    context.holder = holder;
    context.findHolderAgain = async () => (await holders.fetch(hash, { forceRefresh: true }))?.holder ?? null;
    if (holder.suspended) throw new Problem('account_suspended');
    next();
  };
}
