import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { freePort } from '@orders/test-services/ports.ts';
import { chromium, type Page } from 'playwright-core';
import { chromiumPath, fail, readRunning, signInAs } from './open-portal.ts';

/** The first order of a list, or the heading of another page. */
const CONTENT = '.order-row, main:not(:has(.review)) h1';

const NOTE_TIME = `new MutationObserver((_, observer) => {
  if (!document.querySelector(${JSON.stringify(CONTENT)})) return;
  observer.disconnect();
  window.shownAt = performance.now();
}).observe(document, { childList: true, subtree: true });`;
const NAMES_BEFORE = `performance.getEntriesByType('resource').filter(({ startTime }) => startTime < shownAt).map(({ name }) => name)`;

/** The size of the files that a page requests, with an empty cache, before its content shows. */
async function weighPage(page: Page, url: string): Promise<{ gzip: string; brotli: string; fonts: string }> {
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

const HELP = `Measures a page of the portal with Lighthouse, as a phone and as a desktop, and the weight of its start. Needs a running npm start.
Prints; asserts nothing.

Usage: npm run lighthouse -- [--page <name>]

  --page <name>  orders (default), receipts, shops, developers, overview, log or profile

Exit codes: 0 done, 1 failed, 2 usage error.`;

/** Not a dependency: it brings a hundred packages, and only this script needs it. */
const LIGHTHOUSE = 'lighthouse@13.5.0';
const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const;
const METRICS = {
  FCP: 'first-contentful-paint',
  LCP: 'largest-contentful-paint',
  TBT: 'total-blocking-time',
  CLS: 'cumulative-layout-shift',
  SI: 'speed-index',
  weight: 'total-byte-weight',
} as const;

interface Report {
  categories: Record<string, { score: number | null }>;
  audits: Record<string, { displayValue?: string; score: number | null; title: string }>;
}

const { pageName, help } = readArguments();
if (help) {
  process.stdout.write(`${HELP}\n`);
  process.exit(0);
}
const dev = await readRunning();
const executablePath = chromiumPath();
const path = pageName === 'profile' ? '/profile' : `/accounts/${dev.accounts[0]?.id ?? 1}/${pageName}`;
const directory = await mkdtemp(join(tmpdir(), 'lighthouse-'));
const port = await freePort();
const args = ['--no-sandbox', `--remote-debugging-port=${port}`];
const browser = await chromium.launchPersistentContext(directory, { executablePath, args });
try {
  const page = await browser.newPage();
  await signInAs(page, dev, 'account_holder');
  const devtools = await browser.newCDPSession(page);
  const rows: Record<string, Record<string, string>> = {};
  for (const device of ['mobile', 'desktop'] as const) {
    // Keeping the cookies keeps the cache too, and a first visit has none.
    await devtools.send('Network.clearBrowserCache');
    rows[device] = summarize(await measure(device));
  }
  await devtools.send('Network.clearBrowserCache');
  const { gzip, brotli, fonts } = await weighPage(page, dev.portalUrl + path);
  process.stdout.write(`${path}\n`);
  console.table(rows);
  process.stdout.write(`Start: scripts and styles ${gzip} with gzip, ${brotli} with Brotli; fonts ${fonts}\n`);
} finally {
  await browser.close();
  await rm(directory, { recursive: true, force: true });
}

/** Lighthouse uses the browser that is signed in, and keeps its cookies. */
async function measure(device: 'mobile' | 'desktop'): Promise<Report> {
  const output = join(directory, `${device}.json`);
  const options = ['--quiet', '--output=json', `--output-path=${output}`, `--port=${port}`, '--disable-storage-reset'];
  if (device === 'desktop') options.push('--preset=desktop');
  const categories = `--only-categories=${CATEGORIES.join(',')}`;
  await promisify(execFile)('npx', ['--yes', LIGHTHOUSE, dev.portalUrl + path, ...options, categories]);
  return JSON.parse(await readFile(output, 'utf8'));
}

function summarize({ categories, audits }: Report): Record<string, string> {
  const scores = CATEGORIES.map((name) => [name, String(Math.round((categories[name]?.score ?? 0) * 100))]);
  const metrics = Object.entries(METRICS).map(([name, audit]) => [
    name,
    (audits[audit]?.displayValue ?? '–').replace('Total size was ', ''),
  ]);
  return Object.fromEntries([...scores, ...metrics]);
}

function readArguments(): { pageName: string; help: boolean } {
  try {
    const { values } = parseArgs({
      options: { page: { type: 'string', default: 'orders' }, help: { type: 'boolean', short: 'h' } },
    });
    return { pageName: values.page, help: values.help ?? false };
  } catch (error) {
    return fail(`${(error as Error).message}; see: npm run lighthouse -- --help`, 2);
  }
}
