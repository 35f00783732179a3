import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { LOCAL_DIRECTORY, readJson } from './local-state.ts';
import type { DevFile } from './start.ts';

const HELP = `Takes the pictures of the portal that the README shows, from a running npm start.

Usage: npm run pictures -- [--all] [--to <directory>]

  --all             every page, each in light, dark, at the width of a phone, and in Arabic
  --to <directory>  where to put them (default: docs/pictures)

Exit codes: 0 done, 1 failed, 2 wrong use.`;

/** How a page can be looked at. */
const LOOKS: Record<string, BrowserContextOptions & { language: 'en' | 'ar' }> = {
  light: { language: 'en', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { language: 'en', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  phone: {
    language: 'en',
    colorScheme: 'light',
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
  },
  arabic: { language: 'ar', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  'arabic-phone': {
    language: 'ar',
    colorScheme: 'dark',
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
  },
};

interface Scene {
  name: string;
  as: 'account_holder' | 'operator';
  path: (accountId: number) => string;
  /** What to do before the picture is taken. */
  prepare?: (page: Page) => Promise<void>;
  /** The looks of it that the README shows. */
  shown?: string[];
}

const SCENES: Scene[] = [
  { name: 'review', as: 'account_holder', path: (id) => `/accounts/${id}/review`, shown: ['arabic'] },
  {
    name: 'order',
    as: 'account_holder',
    path: (id) => `/accounts/${id}/review`,
    prepare: openWarnedOrder,
    shown: ['light', 'dark'],
  },
  { name: 'integrations', as: 'account_holder', path: (id) => `/accounts/${id}/integrations` },
  {
    name: 'rejected',
    as: 'account_holder',
    path: (id) => `/accounts/${id}/integrations`,
    prepare: showRefusals,
    shown: ['light'],
  },
  { name: 'receipts', as: 'account_holder', path: (id) => `/accounts/${id}/receipts` },
  { name: 'overview', as: 'account_holder', path: (id) => `/accounts/${id}/overview`, shown: ['light'] },
  { name: 'log', as: 'account_holder', path: (id) => `/accounts/${id}/log` },
  { name: 'profile', as: 'account_holder', path: () => '/profile' },
  { name: 'operator', as: 'operator', path: () => '/operator' },
  { name: 'users', as: 'operator', path: () => '/operator/users' },
  { name: 'service', as: 'operator', path: () => '/operator/service' },
  { name: 'operator-log', as: 'operator', path: () => '/operator/log' },
  { name: 'queues', as: 'operator', path: () => '/operator/queues' },
];

const { all, to, help } = readArguments();
if (help) {
  process.stdout.write(`${HELP}\n`);
  process.exit(0);
}
const dev = await readJson<DevFile>(join(LOCAL_DIRECTORY, 'dev.json'));
if (!dev?.portalUrl) fail('No npm start runs here; start it first.', 1);
await mkdir(to, { recursive: true });
await sendRefusals(dev);
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
if (!existsSync(executablePath)) fail('There is no Chromium; install it, or set CHROMIUM_PATH.', 1);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  for (const [look, options] of Object.entries(LOOKS)) await takeLook(browser, dev, look, options);
} finally {
  await browser.close();
}

async function takeLook(browser: Browser, dev: DevFile, look: string, options: (typeof LOOKS)[string]): Promise<void> {
  for (const role of ['account_holder', 'operator'] as const) {
    const scenes = SCENES.filter((scene) => scene.as === role && (all || scene.shown?.includes(look)));
    const signIn = dev.signIns.find((one) => one.role === role);
    if (scenes.length === 0 || !signIn) continue;
    const context = await browser.newContext(options);
    await context.addInitScript(`localStorage.setItem('language', '${options.language}')`);
    const page = await context.newPage();
    await page.goto(dev.portalUrl);
    if (all) await page.screenshot({ path: join(to, `sign-in-${look}.png`) });
    await page.locator('input[type="email"]').fill(signIn.email);
    await page.locator('input[type="password"]').fill(signIn.password);
    await page.locator('button[type="submit"]').click();
    await page.locator('.shell').waitFor();
    for (const { name, path, prepare } of scenes) {
      await page.goto(dev.portalUrl + path(dev.accounts[0]?.id ?? 1), { waitUntil: 'networkidle' });
      await prepare?.(page);
      await page.evaluate('document.fonts.ready');
      await page.screenshot({ path: join(to, `${name}-${look}.png`) });
      process.stdout.write(`${name}-${look}.png\n`);
    }
    await context.close();
  }
}

/** Opens an order that best effort had to mend. */
async function openWarnedOrder(page: Page): Promise<void> {
  await page.goto(`${page.url()}?warnings=yes`, { waitUntil: 'networkidle' });
  await page.locator('.order-row .order-number').nth(1).click();
  await page.locator('.order-pane .fact').first().waitFor();
  await page.waitForLoadState('networkidle');
}

/** Brings the log of rejected deliveries to the top. */
async function showRefusals(page: Page): Promise<void> {
  await page.evaluate(`document.querySelector('[aria-labelledby="rejected-title"]').scrollIntoView()`);
}

/** A few webhooks that are signed wrongly, so that the log of rejected deliveries has something to show. */
async function sendRefusals({ intakeUrl, accounts: [kitchen] }: DevFile): Promise<void> {
  if (!kitchen?.signingSecret) return;
  const body = JSON.stringify({ source_order_id: 'picture-1', emirate: 'Dubai' }, null, 2);
  const hmac = (text: string, encoding: 'hex' | 'base64') =>
    createHmac('sha256', kitchen.signingSecret ?? '')
      .update(text)
      .digest(encoding);
  const signatures = [hmac(JSON.stringify(JSON.parse(body)), 'hex'), hmac(body, 'base64'), hmac(`${body}\n`, 'hex')];
  for (const signature of signatures) {
    await fetch(`${intakeUrl}/ingest/webhook`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${kitchen.apiKey}`,
        'Content-Type': 'application/json',
        'x-service-signature': `sha256=${signature}`,
      },
      body,
    });
  }
}

function readArguments(): { all: boolean; to: string; help: boolean } {
  try {
    const { values } = parseArgs({
      options: { all: { type: 'boolean' }, to: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    const to = resolve(values.to ?? join(import.meta.dirname, '../../../docs/pictures'));
    return { all: values.all ?? false, to, help: values.help ?? false };
  } catch (error) {
    return fail(`${(error as Error).message}; see: npm run pictures -- --help`, 2);
  }
}

function fail(line: string, exitCode: number): never {
  process.stderr.write(`${line}\n`);
  process.exit(exitCode);
}
