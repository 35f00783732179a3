import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * The security headers of a page that loads everything as files from this service.
 *
 * @param more directives of the Content-Security-Policy that add to or replace the defaults.
 */
export function pageSecurity(more: Record<string, string[]>): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        ...more,
      },
    },
    strictTransportSecurity: false,
  });
}
