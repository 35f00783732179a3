import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Problem } from '@orders/domain/problems.ts';
import { ConfigurationError } from '@orders/runtime/config/environment.ts';
import express, { type RequestHandler, Router } from 'express';
import { compressResponses } from './compress-responses.ts';
import { LOOPBACK } from './config.ts';

export const BUILT_PAGE = join(import.meta.dirname, '../page/dist');

/**
 * Serves the built page. Files with a hash in their name are cached for ever, `index.html` never. Every path without a file is a route of
 * the page. At another name of this machine than that of `portalUrl`, such as `127.0.0.1` for `localhost`, every change would be rejected, so
 * the browser is sent there.
 *
 * @throws {ConfigurationError} if the page is not built.
 */
export function servePage(portalUrl: string): Router {
  const index = join(BUILT_PAGE, 'index.html');
  if (!existsSync(index)) throw new ConfigurationError('The portal’s page is not built: run npm run build.');
  const page = readFileSync(index);
  const router = Router();
  router.use(compressResponses());
  router.use(
    '/assets',
    preferCompressed(join(BUILT_PAGE, 'assets')),
    express.static(join(BUILT_PAGE, 'assets'), { immutable: true, maxAge: '1y', index: false, fallthrough: true }),
    () => {
      throw new Problem('not_found');
    },
  );
  router.use(express.static(BUILT_PAGE, { index: false, cacheControl: false }));
  router.get('/{*path}', ({ protocol, host, originalUrl }, response) => {
    const origin = `${protocol}://${host}`;
    if (origin !== portalUrl && LOOPBACK.test(origin) && LOOPBACK.test(portalUrl))
      return response.redirect(portalUrl + originalUrl);
    return response.type('html').setHeader('Cache-Control', 'no-cache').send(page);
  });
  return router;
}

/** Serves `<file>.br`, made by the build, in place of a file if the client accepts Brotli. */
function preferCompressed(directory: string): RequestHandler {
  const compressed = new Set(readdirSync(directory).filter((name) => name.endsWith('.br')));
  return (request, response, next) => {
    response.vary('Accept-Encoding');
    const name = `${request.path.slice(1)}.br`;
    if (compressed.has(name) && request.acceptsEncodings('br')) {
      response.type(extname(request.path)).setHeader('Content-Encoding', 'br');
      request.url = `/${name}`;
    }
    next();
  };
}
