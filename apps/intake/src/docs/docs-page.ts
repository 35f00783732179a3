import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Problem } from '@orders/domain/problems.ts';
import express, { type ErrorRequestHandler, Router } from 'express';
import { contextOf } from '../request-context.ts';
import { pageSecurity } from './page-security.ts';
import { senderPages } from './sender-pages/sender-pages.ts';

// Swagger UI sets style attributes and uses data: URLs for its icons.
const security = pageSecurity({
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
});

/** Resolved instead of imported: the package would load the whole library, which only browsers need. */
const LIBRARY = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
/** The library's files that the page loads; its own start page and package file are not served. */
const LIBRARY_FILES = new Set(['/favicon-32x32.png', '/swagger-ui.css', '/swagger-ui-bundle.js']);

/** `GET /docs`: the OpenAPI document as a page, and below it the guides for senders; no file comes from another host. */
export function docsPage(basePath: string): Router {
  const at = `${basePath}/docs`;
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Order ingestion</title>
<link rel="icon" href="${at}/favicon-32x32.png">
<link rel="stylesheet" href="${at}/swagger-ui.css">
</head>
<body>
<header style="padding:12px 20px;font:16px system-ui,sans-serif">Guides: <a href="${at}/senders">ten minutes to the first order, webhooks, retries, errors</a></header>
<div id="page"></div><script src="${at}/swagger-ui-bundle.js"></script><script src="${at}/start.js"></script></body>
</html>
`;
  const start = `SwaggerUIBundle({ url: ${JSON.stringify(`${basePath}/openapi.json`)}, dom_id: '#page', validatorUrl: null });\n`;

  const router = Router({ strict: true, caseSensitive: true });
  router.use(at, (request, _response, next) => {
    contextOf(request).route = '/docs';
    next();
  });
  router.use(senderPages(at));
  router.use(at, security);
  router.get(at, (_request, response) => {
    response.type('html').send(page);
  });
  router.get(`${at}/start.js`, (_request, response) => {
    response.type('js').send(start);
  });
  const files = { index: false, redirect: false, cacheControl: false, acceptRanges: false };
  const library = express.static(LIBRARY, files);
  router.use(at, (request, response, next) => {
    if (LIBRARY_FILES.has(request.path)) library(request, response, next);
    else next();
  });
  router.all(at, () => {
    throw new Problem('method_not_allowed', { headers: { Allow: 'GET, HEAD' } });
  });
  router.use(at, fileErrorsAsNotFound);
  return router;
}

/** The file server's own 4xx errors (preconditions, malformed paths) become 404. */
const fileErrorsAsNotFound: ErrorRequestHandler = (error, _request, _response, next) => {
  const isFileError = error.status >= 400 && error.status < 500 && !(error instanceof Problem);
  next(isFileError ? new Problem('not_found') : error);
};
