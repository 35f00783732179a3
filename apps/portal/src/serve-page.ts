import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '@orders/domain';
import { ConfigurationError } from '@orders/runtime';
import express, { Router } from 'express';
import { compressReplies } from './compress-replies.ts';

const BUILT_PAGE = join(import.meta.dirname, '../page/dist');

/**
 * The page, as it was built: files with a hash in their name may be kept for ever, the page itself never. Every path that is no file is
 * one that the page knows how to show.
 *
 * @throws {ConfigurationError} when the page was not built.
 */
export function servePage(): Router {
  const index = join(BUILT_PAGE, 'index.html');
  if (!existsSync(index)) throw new ConfigurationError('The portal’s page is not built: run npm run build.');
  const page = readFileSync(index);
  const router = Router();
  router.use(compressReplies());
  router.use(
    '/assets',
    express.static(join(BUILT_PAGE, 'assets'), { immutable: true, maxAge: '1y', index: false, fallthrough: true }),
    () => {
      throw new Problem('not_found');
    },
  );
  router.use(express.static(BUILT_PAGE, { index: false, cacheControl: false }));
  router.get('/{*path}', (_request, response) => {
    response.type('html').setHeader('Cache-Control', 'no-cache').send(page);
  });
  return router;
}
