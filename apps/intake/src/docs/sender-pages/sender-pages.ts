import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type DocPage, readPages } from '@orders/doc-pages/read-pages.ts';
import { type DocSite, renderPage, STYLESHEET } from '@orders/doc-pages/render-page.ts';
import { WARNINGS } from '@orders/domain/normalize/warnings.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type RequestHandler, Router } from 'express';
import { pageSecurity } from '../page-security.ts';
import { CLIENT_NAMES, type ClientName, clientSums, PACKED, readClient } from './client-files.ts';
import { clientsPage, nameWithVersion } from './clients-page.ts';

/** The container image has them at the same relative path. */
const DIRECTORY = resolve(import.meta.dirname, '../../../../../docs/senders');

/** The pages of docs/senders: the index, then the others in the order of its links. That of the warnings ends with the list of their codes. */
export function readSenderPages(): DocPage[] {
  return readPages(DIRECTORY).map((page) =>
    page.name === 'warnings' ? { ...page, markdown: `${page.markdown}\n${warningCodes()}\n` } : page,
  );
}

const warningCodes = () =>
  Object.entries(WARNINGS)
    .map(([code, [problem, remedy]]) => `- \`${code}\`: ${problem}; ${remedy}`)
    .join('\n');

const NOT_PACKED = 'This service runs without a packed client. `npm run bundle` packs it.';
const security = pageSecurity({ formAction: ["'none'"] });

/**
 * `GET /docs/senders` and below: the pages of docs/senders, rendered when first asked for, and their Markdown under the same path and `.md`.
 * `clients` lists the clients, and `clients/` has them to download.
 */
export function senderPages(reference: string): Router {
  const at = `${reference}/senders`;
  const router = Router({ strict: true, caseSensitive: true });
  const get = (path: string, handler: RequestHandler) => {
    const allow = { headers: { Allow: 'GET, HEAD' } };
    router
      .route(path)
      .get(security, handler)
      .all(() => {
        throw new Problem('method_not_allowed', allow);
      });
  };
  const serve = (path: string, type: string, render: () => string) => {
    let body: string | undefined;
    get(path, (_request, response) => {
      body ??= render();
      response.type(type).send(body);
    });
  };
  const pages = readSenderPages();
  const site = senderSite(at, reference);
  for (const page of pages) {
    serve(page.name === 'README' ? at : `${at}/${page.name}`, 'html', () => renderPage(page, pages, site));
    serve(`${at}/${page.name}.md`, 'text/markdown', () => page.markdown);
  }
  router.get(`${at}/`, (_request, response) => {
    response.redirect(308, at);
  });
  // Its relative links must resolve from one directory further up.
  serve(`${at}.md`, 'text/markdown', () => pages[0]?.markdown.replaceAll(/\]\((?=[\w-]+\.md)/g, '](senders/') ?? '');
  serve(`${at}/style.css`, 'css', () => STYLESHEET);
  const copyButtons = readFileSync(resolve(import.meta.dirname, 'copy.js'), 'utf8');
  serve(`${at}/copy.js`, 'js', () => copyButtons);
  for (const name of CLIENT_NAMES) get(`${at}/clients/${name}`, sendClient(name, name));
  get(`${at}/clients/${nameWithVersion(PACKED)}`, sendClient(PACKED, nameWithVersion(PACKED)));
  // Not kept, as a client may be packed while intake runs.
  get(`${at}/clients`, (_request, response) => {
    response.type('html').send(renderPage(clientsPage(at), pages, site));
  });
  get(`${at}/clients.md`, (_request, response) => {
    response.type('text/markdown').send(clientsPage(at).markdown);
  });
  router.get(`${at}/clients/`, (_request, response) => {
    response.redirect(308, `${at}/clients`);
  });
  get(`${at}/clients/SHA256SUMS`, (_request, response) => {
    response.type('text/plain').send(clientSums());
  });
  return router;
}

function sendClient(name: ClientName, savedAs: string): RequestHandler {
  return (_request, response) => {
    const file = readClient(name);
    if (!file) throw new Problem('not_found', { detail: NOT_PACKED });
    response
      .attachment(savedAs)
      .type(file.type)
      .set('Repr-Digest', `sha-256=:${file.sha256.toString('base64')}:`);
    response.send(file.bytes);
  };
}

function senderSite(at: string, reference: string): DocSite {
  return {
    at,
    name: 'Order ingestion',
    language: 'en',
    head: ({ name }) => `<link rel="icon" href="${reference}/favicon-32x32.png">
<link rel="alternate" type="text/markdown" href="${at}/${name}.md">
<link rel="stylesheet" href="${at}/style.css">
<script src="${at}/copy.js" defer></script>`,
    links: () => [{ href: reference, text: 'API reference' }],
    labels: { contents: 'Guides', skip: 'Skip to content', next: 'Next', anchor: 'Link to this part' },
  };
}
