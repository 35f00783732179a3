import type { IncomingMessage } from 'node:http';
import type { Database } from '@orders/database/connect.ts';
import { createAddressMatcher } from '@orders/domain/address-ranges.ts';
import { hashApiKey, type KeyScope } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import { readBearerKey } from '@orders/http/read-headers.ts';
import type { RequestHandler } from 'express';
import { contextOf, keyOf } from '../request-context.ts';
import { createCachedLookUp } from './cached-look-up.ts';
import { type AuthenticatedKey, findAuthenticatedKeys, touchKey } from './find-authenticated-keys.ts';
import { type OtherInstallations, rejectMoved } from './other-installations.ts';

export interface Authenticator {
  /**
   * Finds the account of a request by its Bearer key (RFC 6750).
   *
   * @throws {Problem} `missing_api_key`, `invalid_api_key`, `wrong_installation`, `address_not_allowed`, `account_suspended`, or
   * `overloaded` if too many unknown keys wait; a database error if the look-up fails.
   */
  authenticate: RequestHandler;
  /** The account of a request whose key is cached; undefined otherwise. */
  cachedAccount(request: IncomingMessage): number | undefined;
}

interface CachedKey extends AuthenticatedKey {
  /** Null if the key works from every address. */
  isAllowedFrom: ((address: string) => boolean) | null;
}

export function createAuthenticator(database: Database, installations: OtherInstallations): Authenticator {
  const keys = createCachedLookUp<CachedKey>({
    idOf: (key) => hashApiKey(key).toString('base64'),
    async find(hashes) {
      const found = await findAuthenticatedKeys(
        database,
        hashes.map((hash) => Buffer.from(hash, 'base64')),
      );
      return found.map(
        (key) =>
          key && { ...key, isAllowedFrom: key.addresses.length > 0 ? createAddressMatcher(key.addresses) : null },
      );
    },
    // The time of last use is informative; a failure to store it must not fail the request.
    onFound: ({ accountId, keyId }) => void touchKey(database, accountId, keyId).catch(() => {}),
  });
  return {
    async authenticate(request, _response, next) {
      const key = readBearerKey(request);
      const authenticated = keys.cached(key) ?? (await keys.find(key));
      if (!authenticated) {
        await installations.reject(key);
        throw new Problem('invalid_api_key');
      }
      rejectMoved(authenticated);
      const context = contextOf(request);
      context.authenticated = authenticated;
      context.authenticateAgain = async () => (await keys.find(key, { isFresh: true })) ?? null;
      const { isAllowedFrom } = authenticated;
      // The client's address, by `trust proxy`.
      if (isAllowedFrom && !isAllowedFrom(request.ip ?? '')) throw new Problem('address_not_allowed');
      rejectMoving(authenticated);
      if (authenticated.suspended) throw new Problem('account_suspended');
      next();
    },
    cachedAccount(request) {
      try {
        return keys.cached(readBearerKey(request))?.accountId;
      } catch {
        return undefined;
      }
    },
  };
}

/** @throws {Problem} `storage_unavailable`, with Retry-After, for an account that is being moved to another installation. */
export function rejectMoving({ isMoving }: { isMoving: boolean }): void {
  const detail = 'This account is being moved to another installation. Retry after the time in Retry-After.';
  if (isMoving) throw new Problem('storage_unavailable', { detail });
}

/**
 * Requires a scope of the API key; only for routes behind `authenticate`.
 *
 * @param signedRoute the signed route that an account which accepts signed deliveries only must use in place of this one.
 * @throws {Problem} `insufficient_scope`, `signature_required`.
 */
export function checkAccess(scope: KeyScope, signedRoute?: string): RequestHandler {
  const scopeOptions = {
    detail: `This API key does not have the scope "${scope}".`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  };
  const signedOptions = {
    detail: `This account accepts signed deliveries only. Send a signed request to ${signedRoute}.`,
  };
  return (request, _response, next) => {
    const { scopes, signedOnly } = keyOf(request);
    if (!scopes.includes(scope)) throw new Problem('insufficient_scope', scopeOptions);
    if (signedOnly && signedRoute !== undefined) throw new Problem('signature_required', signedOptions);
    next();
  };
}
