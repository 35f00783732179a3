import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * The security headers of a page, everything of which comes from this service as files.
 *
 * @param more directives of its Content-Security-Policy, beside these or in their place.
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
