import { type AuthenticatedKey, type Database, type SecretsKeys, touchSecret, tryToUnseal } from '@orders/database';
import { claimedDigest, isSignedWith, Problem, type ProblemCode } from '@orders/domain';
import { readSignature } from '@orders/http';
import type { Request, RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { accountOf, contextOf } from '../request-context.ts';

/** An old secret in use is noted to the minute. */
const NOTED_MS = 60_000;

/**
 * Checks `x-service-signature` over the exact bytes received, against every secret that verifies now (two during a rotation), in
 * constant time. A secret may be newer than what is remembered of its account, so before anybody is refused it is looked up anew.
 * One that verifies by a secret that is not the newest tells, off its way, that somebody still uses that.
 *
 * @param keys open the accounts' signing secrets.
 * @throws {Problem} `signing_unavailable`, `missing_signature`, `invalid_signature`, or `storage_unavailable` where none of the keys
 * opens a secret that may be the right one.
 */
export function verifySignature(database: Database, keys: SecretsKeys): RequestHandler {
  const noted = new LRUCache<string, true>({ max: 1000, ttl: NOTED_MS });
  const noteOldSecret = (accountId: number, sealed: Buffer) => {
    const name = sealed.toString('base64');
    if (noted.has(name)) return;
    noted.set(name, true);
    touchSecret(database, accountId, sealed).catch(() => {});
  };

  const refusalOf = (request: Request, { accountId, sealedSecrets }: AuthenticatedKey): ProblemCode | null => {
    if (sealedSecrets.length === 0) return 'signing_unavailable';
    const header = readSignature(request);
    if (header === undefined) return 'missing_signature';
    const claimed = claimedDigest(header);
    if (!claimed) return 'invalid_signature';
    let isUnreadable = false;
    const matches = sealedSecrets.filter((sealed) => {
      const secret = tryToUnseal(keys, accountId, sealed);
      if (secret === null) isUnreadable = true;
      return secret !== null && isSignedWith(secret, request.body, claimed);
    });
    const [match] = matches;
    // Where the right secret may be the one that does not open, the sender is not at fault and has to send again.
    if (!match) return isUnreadable ? 'storage_unavailable' : 'invalid_signature';
    if (match !== sealedSecrets[0]) noteOldSecret(accountId, match);
    return null;
  };

  return async (request, _response, next) => {
    const remembered = accountOf(request);
    if (refusalOf(request, remembered) !== null) {
      const refusal = refusalOf(request, (await contextOf(request).authenticateAgain?.()) ?? remembered);
      if (refusal !== null) throw new Problem(refusal);
    }
    next();
  };
}
