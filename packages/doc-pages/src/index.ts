import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export { escapeHtml } from './escape-html.ts';
export { type DocPage, readPages } from './read-pages.ts';
export { anchorOf, type DocSite, renderPage } from './render-page.ts';

/** The stylesheet of all pages, for light and dark and both writing directions. */
export const STYLESHEET = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');
