import { type SecretsKeys, tryToUnseal } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import { Problem, type ProblemCode } from '@orders/domain/problems.ts';
import { claimedDigest, isSignedWith } from '@orders/domain/signature.ts';
import { readSignature } from '@orders/http/read-headers.ts';
import type { Request, RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { touchSecret } from '../observability/secrets-in-use.ts';
import { contextOf, type Sender, senderOf } from '../request-context.ts';

/** The last use of an old secret is stored at most once a minute. */
const TOUCH_INTERVAL_MS = 60_000;

/**
 * Verifies `x-service-signature` over the exact bytes received, in constant time, against each valid secret (two during a rotation). A
 * secret may be newer than the cached account data, so the account is looked up again before a request is rejected. If an older secret
 * matches, its time of last use is stored in the background.
 *
 * @param keys unseal the accounts' signing secrets.
 * @throws {Problem} `signing_unavailable`, `missing_signature`, `invalid_signature`, or `storage_unavailable` if no key unseals a secret
 * that may be the right one.
 */
export function verifySignature(database: Database, keys: SecretsKeys): RequestHandler {
  const recentlyTouched = new LRUCache<string, true>({ max: 1000, ttl: TOUCH_INTERVAL_MS });
  const touchOldSecret = (accountId: number, sealed: Buffer) => {
    const name = sealed.toString('base64');
    if (recentlyTouched.has(name)) return;
    recentlyTouched.set(name, true);
    touchSecret(database, accountId, sealed).catch(() => {});
  };

  const problemOf = (request: Request, { accountId, sealedSecrets }: Sender): ProblemCode | null => {
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
    // The right secret may be the one that cannot be unsealed, so the sender is not at fault and must retry.
    if (!match) return isUnreadable ? 'storage_unavailable' : 'invalid_signature';
    if (match !== sealedSecrets[0]) touchOldSecret(accountId, match);
    return null;
  };

  return async (request, _response, next) => {
    const cached = senderOf(request);
    if (problemOf(request, cached) !== null) {
      const problem = problemOf(request, (await contextOf(request).authenticateAgain?.()) ?? cached);
      if (problem !== null) throw new Problem(problem);
    }
    next();
  };
}
