import { extname } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';

/** The first order of a list, or the heading of another page. */
const CONTENT = '.order-row, main:not(:has(.review)) h1';

const NOTE_TIME = `new MutationObserver((_, observer) => {
  if (!document.querySelector(${JSON.stringify(CONTENT)})) return;
  observer.disconnect();
  window.shownAt = performance.now();
}).observe(document, { childList: true, subtree: true });`;
const NAMES_BEFORE = `performance.getEntriesByType('resource').filter(({ startTime }) => startTime < shownAt).map(({ name }) => name)`;

/** The size of the files that a page requests, with an empty cache, before its content shows. */
export async function weighPage(page: Page, url: string): Promise<{ gzip: string; brotli: string; fonts: string }> {
  const loaded: Promise<{ name: string; type: string; body: Buffer }>[] = [];
  page.on('response', (response) => {
    const name = response.url();
    const { pathname } = new URL(name);
    if (pathname.startsWith('/assets/'))
      loaded.push(response.body().then((body) => ({ name, type: extname(pathname), body })));
  });
  await page.addInitScript(NOTE_TIME);
  await page.goto(url, { waitUntil: 'networkidle' });
  const names = await page.evaluate<string[]>(NAMES_BEFORE);
  const files = (await Promise.all(loaded)).filter(({ name }) => names.includes(name));
  const code = files.filter(({ type }) => type !== '.woff2').map(({ body }) => body);
  const fonts = files.filter(({ type }) => type === '.woff2').map(({ body }) => body);
  return {
    gzip: sizeOf(code.map((body) => gzipSync(body, { level: 9 }))),
    brotli: sizeOf(code.map((body) => brotliCompressSync(body))),
    fonts: sizeOf(fonts),
  };
}

function sizeOf(files: Buffer[]): string {
  return `${(files.reduce((sum, { length }) => sum + length, 0) / 1000).toFixed(1)} kB`;
}
