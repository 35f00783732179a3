import { createHmac } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type PageScreenshotOptions,
} from 'playwright-core';
import type { DevFile } from './local-state.ts';
import { chromiumPath, fail, readRunning, signInAs } from './open-portal.ts';
import { SCENES, type Scene } from './pictures/scenes.ts';

/** How the portal looks in a screenshot. */
interface View {
  width: number;
  theme: 'light' | 'dark';
  language: 'en' | 'ar';
}

/** Width and height of a phone, a tablet, a laptop and a large screen. */
const HEIGHTS: Record<number, number> = { 390: 844, 768: 1024, 1280: 800, 1920: 1080 };

/** Four sizes, two themes, two languages. */
const ALL_VIEWS: View[] = Object.keys(HEIGHTS).flatMap((width) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    (['en', 'ar'] as const).map((language) => ({ width: Number(width), theme, language })),
  ),
);

function viewName({ width, theme, language }: View): string {
  return `${width}-${theme}-${language}`;
}

function contextOptions({ width, theme, language }: View): BrowserContextOptions {
  return {
    colorScheme: theme,
    locale: language === 'ar' ? 'ar-AE' : 'en-GB',
    timezoneId: 'Asia/Dubai',
    viewport: { width, height: HEIGHTS[width] ?? Math.round(width * 0.625) },
    ...(width < 500 && { isMobile: true, hasTouch: true }),
  };
}

/** A picture in a document. */
interface DocumentPicture {
  /** Path below docs/, a PNG or a WebP. */
  file: string;
  scene: string;
  view: View;
}

/** In both languages, in the help. */
const HELP_SCENES = ['order', 'blocked', 'selection', 'rejected', 'upload'];

const DOCUMENT_PICTURES: DocumentPicture[] = [
  { file: 'pictures/order-light.webp', scene: 'order', view: { width: 1600, theme: 'light', language: 'en' } },
  ...HELP_SCENES.flatMap((scene) =>
    (['en', 'ar'] as const).map(
      (language): DocumentPicture => ({
        file: `portal/pictures/${scene}-${language}.webp`,
        scene,
        view: { width: 1280, theme: 'light', language },
      }),
    ),
  ),
];

const HELP = `Takes the screenshots of the portal for the README and its help, from a running npm start.

Usage: npm run pictures -- [--all] [--view <view>]… [--only <scene>]… [--to <directory>]

  --all             every page in four sizes, two themes and two languages, as long as it is
  --view <view>     of these only this view, such as 390-dark-ar; several times for several
  --only <scene>    only this scene, such as order; several times for several
  --to <directory>  where to write them (default: docs; with --all it must be given)

Exit codes: 0 done, 1 failed, 2 usage error.`;

/** What WebP compresses to; higher values cost more than they show in a screenshot. */
const WEBP_QUALITY = 75;

const { all, views, only, to, help } = readArguments();
if (help) {
  process.stdout.write(`${HELP}\n`);
  process.exit(0);
}
const dev = await readRunning();
await sendRejectedWebhooks(dev);
const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
let failures = 0;
try {
  const sessions = await signIn(browser, dev);
  for (const { scene, view, file } of pictures()) {
    const context = await browser.newContext({ ...contextOptions(view), ...sessions[scene.as] });
    await context.addInitScript(`localStorage.setItem('language', '${view.language}')`);
    // One scene that cannot be opened does not stop the others.
    try {
      await takePicture(context, dev, scene, join(to, file), { fullPage: all });
      process.stdout.write(`${file}\n`);
    } catch (error) {
      failures++;
      process.stderr.write(`${file}: ${(error as Error).message.split('\n')[0]}\n`);
    }
    await context.close();
  }
} finally {
  await browser.close();
}
if (failures > 0) fail(`${failures} of the pictures could not be taken.`, 1);

interface Picture {
  scene: Scene;
  view: View;
  file: string;
}

function pictures(): Picture[] {
  const scenes = SCENES.filter(({ name }) => only.length === 0 || only.includes(name));
  if (all) {
    return scenes.flatMap((scene) =>
      views.map((view) => ({ scene, view, file: `${scene.name}-${viewName(view)}.png` })),
    );
  }
  return DOCUMENT_PICTURES.flatMap(({ scene: name, view, file }) =>
    scenes.filter((scene) => scene.name === name).map((scene) => ({ scene, view, file })),
  );
}

/** Signs in once for each role. */
async function signIn(browser: Browser, dev: DevFile) {
  const stateOf = async (role: DevFile['signIns'][number]['role']) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await signInAs(page, dev, role);
    // Each sign-in of earlier pictures asks for a confirmation, above every page.
    const known = page.getByRole('button', { name: 'Yes', exact: true });
    const isAsked = async () => {
      await page.goto(dev.portalUrl, { waitUntil: 'networkidle' });
      return known.isVisible();
    };
    while (await isAsked()) {
      await known.click();
      await page.waitForTimeout(300);
    }
    const storageState = await context.storageState();
    await context.close();
    return { storageState };
  };
  return { account_holder: await stateOf('account_holder'), operator: await stateOf('operator'), nobody: {} };
}

async function takePicture(
  context: BrowserContext,
  dev: DevFile,
  scene: Scene,
  file: string,
  options: PageScreenshotOptions,
): Promise<void> {
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  // The list of orders polls, so the network may never be idle for long.
  await page.goto(dev.portalUrl + scene.path(dev.accounts[0]?.id ?? 1), { waitUntil: 'networkidle' });
  await scene.prepare?.(page);
  await page.evaluate('document.fonts.ready');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, file.endsWith('.webp') ? await takeWebp(page) : await page.screenshot(options));
}

async function takeWebp(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: WEBP_QUALITY });
  return Buffer.from(data, 'base64');
}

function readArguments(): { all: boolean; views: View[]; only: string[]; to: string; help: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        all: { type: 'boolean' },
        view: { type: 'string', multiple: true },
        only: { type: 'string', multiple: true },
        to: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const { all = false, view = [], only = [], help = false } = values;
    const views = ALL_VIEWS.filter((one) => view.length === 0 || view.includes(viewName(one)));
    const unknown = only.find((name) => !SCENES.some((scene) => scene.name === name));
    if (unknown) throw new Error(`There is no scene ${unknown}`);
    if (views.length < view.length) throw new Error('There is no such view');
    if (view.length > 0 && !all) throw new Error('--view needs --all');
    if (all && !values.to && !help) throw new Error('--all needs --to');
    return { all, views, only, help, to: resolve(values.to ?? join(import.meta.dirname, '../../../docs')) };
  } catch (error) {
    return fail(`${(error as Error).message}; see: npm run pictures -- --help`, 2);
  }
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
