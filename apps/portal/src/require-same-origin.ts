import { Problem } from '@orders/domain/problems.ts';
import type { RequestHandler } from 'express';

const SAFE = new Set(['GET', 'HEAD']);

/**
 * CSRF protection in addition to `SameSite` cookies: changing requests must come from the portal's own origin. Browsers send `Origin` with
 * all of them, and pages cannot set it.
 *
 * @throws {Problem} `cross_site_request`.
 */
export function requireSameOrigin(portalUrl: string): RequestHandler {
  const { origin } = new URL(portalUrl);
  return (request, _response, next) => {
    if (!SAFE.has(request.method) && request.get('origin') !== origin) throw new Problem('cross_site_request');
    next();
  };
}
