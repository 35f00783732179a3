import { Problem } from '@orders/domain';
import type { RequestHandler } from 'express';

const SAFE = new Set(['GET', 'HEAD']);

/**
 * Takes changes from the portal's own pages only: beside `SameSite` cookies a second fence against forged requests. Browsers send `Origin`
 * with every such request and let no page set it.
 *
 * @throws {Problem} `cross_site_request`.
 */
export function refuseCrossSite(portalUrl: string): RequestHandler {
  const { origin } = new URL(portalUrl);
  return (request, _response, next) => {
    if (!SAFE.has(request.method) && request.get('origin') !== origin) throw new Problem('cross_site_request');
    next();
  };
}
