import { type SecretsKeys, tryToUnseal } from '@orders/database/accounts/seal.ts';
import { MAX_LIVE_SECRETS } from '@orders/database/accounts/signing-secrets.ts';
import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import { Problem, type ProblemCode } from '@orders/domain/problems.ts';
import { claimedDigest, isSignedWith } from '@orders/domain/signature.ts';
import { readSignature } from '@orders/http/read-headers.ts';
import type { Request, RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { contextOf, type Sender, senderOf } from '../request-context.ts';

const TOUCH = {
  name: 'touch-secret',
  text: `
update signing_secrets set last_used_at = now()
where account_id = $1::int and sealed = $2::bytea and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
};

/** Records that a signing secret verified a webhook, to the minute. */
async function touchSecret(database: Database, accountId: number, sealed: Buffer): Promise<void> {
  await run(database, TOUCH, [accountId, sealed]);
}

/** An encrypted signing secret, live or rotated out. */
interface SealedSecret {
  sealed: Buffer;
  isLive: boolean;
}

const FIND = {
  name: 'find-secrets-to-diagnose',
  text: `
select sealed, (expires_at is null or expires_at > now()) and row_number() over (order by secret_id desc) <= ${MAX_LIVE_SECRETS} as "isLive"
from signing_secrets where account_id = $1::int order by secret_id desc limit 5`,
};

/** The newest five secrets of an account, newest first, including rotated-out ones that a sender may still use. */
export async function findSecretsToDiagnose(database: Database, accountId: number): Promise<SealedSecret[]> {
  return run<SealedSecret>(database, FIND, [accountId]);
}

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
