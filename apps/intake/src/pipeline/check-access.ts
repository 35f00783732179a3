import type { KeyScope } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { RequestHandler } from 'express';
import { keyOf } from '../request-context.ts';

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
