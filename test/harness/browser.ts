import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterEach, expect } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { closeAtEnd } from './close-at-end.ts';
import type { TestPerson } from './people.ts';
import { findProgram } from './programs.ts';
import type { RunningPortal } from './stack.ts';

/** A bound for what hangs, below Jest's own, so that the failure says what the page did not show. */
const HANG_MS = 120_000;

/** One browser for all pages of a test file. */
let launching: Promise<Browser> | undefined;

async function launch(): Promise<Browser> {
  const executablePath = findProgram('chromium');
  if (!executablePath) throw new Error('The pages are tested in Chromium: install it, or set CHROMIUM_PATH.');
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  return closeAtEnd(await chromium.launch({ executablePath, args, timeout: HANG_MS }));
}

/** Whoever uses the page takes half a second before each key and click: by `performance.now` it tells what is done in a hurry. */
const UNHURRIED = '(() => { let passed = 1_000_000; performance.now = () => (passed += 500); })()';

type PageOptions = BrowserContextOptions & {
  /** For `page.clock`, which takes the place of our `performance.now`. */
  isHurried?: boolean;
  /** For several tests: it stays open until the end of the file. */
  stays?: boolean;
};

/** The open pages, each with its console errors, exceptions and requests to other hosts. */
let opened: { page: Page; complaints: string[]; stays: boolean }[] = [];

afterEach(async () => {
  const complaints = opened.flatMap((one) => one.complaints.splice(0));
  const closing = opened.filter(({ stays }) => !stays);
  opened = opened.filter(({ stays }) => stays);
  for (const { page } of closing) await page.context().close();
  expect(complaints).toEqual([]);
});

/** Opens a page with a new profile. It is closed after the test, which fails if the page complained. */
export async function openPage({ isHurried = false, stays = false, ...options }: PageOptions = {}): Promise<Page> {
  launching ??= launch();
  const context = await (await launching).newContext({
    locale: 'en-GB',
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  if (!isHurried) await page.addInitScript(UNHURRIED);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // Chromium logs every reply that is not 2xx; the page handles these.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { hostname, origin } = new URL(request.url());
    if (!['', '127.0.0.1', 'localhost'].includes(hostname)) complaints.push(`asked ${origin}`);
  });
  opened.push({ page, complaints, stays });
  return page;
}

type RouteArguments = Parameters<Page['route']>;
const PROBE = '/intercepted';

/** Like `page.route`, which returns before Chromium intercepts the requests of a loaded page: about one in a hundred was sent instead. */
export async function intercept(page: Page, ...[address, handler, options]: RouteArguments): Promise<void> {
  await page.route(address, handler, options);
  if (page.url() === 'about:blank') return;
  await page.route(`**${PROBE}`, (route) => route.fulfill({ status: 418 }));
  while ((await page.evaluate(async (probe) => (await fetch(probe)).status, PROBE)) !== 418);
  await page.unroute(`**${PROBE}`);
}

/** Holds the requests of a page for these addresses, until the returned function is called. */
export async function holdRequests(page: Page, address: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await intercept(page, address, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

/** Stops `Date.now` of a page, by which it counts the time to undo. Timers go on. */
export async function stopTime(page: Page): Promise<void> {
  await page.evaluate('(() => { const stoppedAt = Date.now(); Date.now = () => stoppedAt; })()');
}

/**
 * Stops `performance.now` of a page from its next address on, so that all that follows is done in a hurry. Timers go on.
 *
 * @returns moves it on by so many milliseconds.
 */
export async function stopPageClock(page: Page): Promise<(ms: number) => Promise<void>> {
  await page.addInitScript('let stoppedAt = performance.now(); performance.now = (by = 0) => (stoppedAt += by);');
  return (ms) => page.evaluate<void>(`void performance.now(${ms})`);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WCAG_2_2_AA = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Checks the current state of the page against WCAG 2.2 AA with axe-core. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults, string[]>((tags) => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
    return axe.run({ runOnly: tags, resultTypes: ['violations'], preload: false });
  }, WCAG_2_2_AA);
  const found = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${help}: ${target.join(' ')} ${any[0]?.message ?? ''}`),
  );
  if (found.length > 0) throw new Error(`${page.url()} is not accessible:\n${found.join('\n')}`);
}

/** Opens a page of the portal with a new profile, signed in. */
export async function openPageAs(
  portal: RunningPortal,
  person: TestPerson,
  path = '/',
  options: PageOptions = {},
): Promise<Page> {
  const page = await openPage(options);
  await visitAs(page, portal, person, path);
  return page;
}

/** Goes to a page of the portal, signed in. The request saves the second that the form on the page takes. */
export async function visitAs(page: Page, portal: RunningPortal, person: TestPerson, path = '/'): Promise<void> {
  const { email, password } = person;
  const reply = await page.request.post(`${portal.url}/api/session`, {
    headers: { Origin: portal.url },
    data: { email, password },
  });
  if (!reply.ok()) throw new Error(`Signing in failed: ${reply.status()} ${await reply.text()}`);
  await page.goto(portal.url + path);
  await page.locator('.shell').waitFor();
}
