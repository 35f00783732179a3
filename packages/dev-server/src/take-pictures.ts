import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type DevFile, LOCAL_DIRECTORY, readJson } from './local-state.ts';

const HELP = `Takes the screenshots of the portal for the README, from a running npm start.

Usage: npm run pictures -- [--all] [--to <directory>]

  --all             every page in light, dark, phone width and Arabic
  --to <directory>  where to write them (default: docs/pictures)

Exit codes: 0 done, 1 failed, 2 usage error.`;

const VIEWS: Record<string, BrowserContextOptions & { language: 'en' | 'ar' }> = {
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
  /** Runs before the screenshot. */
  prepare?: (page: Page) => Promise<void>;
  /** The views in the README. */
  inReadme?: string[];
}

const SCENES: Scene[] = [
  { name: 'review', as: 'account_holder', path: (id) => `/accounts/${id}/review`, inReadme: ['arabic'] },
  {
    name: 'order',
    as: 'account_holder',
    path: (id) => `/accounts/${id}/review`,
    prepare: openWarnedOrder,
    inReadme: ['light', 'dark'],
  },
  { name: 'integrations', as: 'account_holder', path: (id) => `/accounts/${id}/integrations` },
  {
    name: 'rejected',
    as: 'account_holder',
    path: (id) => `/accounts/${id}/integrations?tab=rejected`,
    inReadme: ['light'],
  },
  { name: 'receipts', as: 'account_holder', path: (id) => `/accounts/${id}/receipts` },
  { name: 'overview', as: 'account_holder', path: (id) => `/accounts/${id}/overview`, inReadme: ['light'] },
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
if (!dev?.portalUrl) fail('npm start is not running here; start it first.', 1);
await mkdir(to, { recursive: true });
await sendRejectedWebhooks(dev);
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
if (!existsSync(executablePath)) fail('There is no Chromium; install it, or set CHROMIUM_PATH.', 1);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  for (const [view, options] of Object.entries(VIEWS)) await takeScreenshots(browser, dev, view, options);
} finally {
  await browser.close();
}

async function takeScreenshots(
  browser: Browser,
  dev: DevFile,
  view: string,
  options: (typeof VIEWS)[string],
): Promise<void> {
  for (const role of ['account_holder', 'operator'] as const) {
    const scenes = SCENES.filter((scene) => scene.as === role && (all || scene.inReadme?.includes(view)));
    const signIn = dev.signIns.find((user) => user.role === role);
    if (scenes.length === 0 || !signIn) continue;
    const context = await browser.newContext(options);
    await context.addInitScript(`localStorage.setItem('language', '${options.language}')`);
    const page = await context.newPage();
    await page.goto(dev.portalUrl);
    if (all) await page.screenshot({ path: join(to, `sign-in-${view}.png`) });
    await page.locator('input[type="email"]').fill(signIn.email);
    await page.locator('input[type="password"]').fill(signIn.password);
    await page.locator('button[type="submit"]').click();
    await page.locator('.shell').waitFor();
    for (const { name, path, prepare } of scenes) {
      await page.goto(dev.portalUrl + path(dev.accounts[0]?.id ?? 1), { waitUntil: 'networkidle' });
      await prepare?.(page);
      await page.evaluate('document.fonts.ready');
      await page.screenshot({ path: join(to, `${name}-${view}.png`) });
      process.stdout.write(`${name}-${view}.png\n`);
    }
    await context.close();
  }
}

/** Opens an order with warnings. */
async function openWarnedOrder(page: Page): Promise<void> {
  await page.goto(`${page.url()}?warnings=yes`, { waitUntil: 'networkidle' });
  await page.locator('.order-row .order-number').nth(1).click();
  await page.locator('.order-pane .fact').first().waitFor();
  await page.waitForLoadState('networkidle');
}

/** Sends webhooks with wrong signatures, so that the log of rejected deliveries has entries. */
async function sendRejectedWebhooks({ intakeUrl, accounts: [kitchen] }: DevFile): Promise<void> {
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
