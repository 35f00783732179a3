import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { DemoSignIn } from './demo-data.ts';
import { type DevFile, LOCAL_DIRECTORY, readJson } from './local-state.ts';

/** The running `npm start`; ends the process if there is none. */
export async function readRunning(): Promise<DevFile> {
  const dev = await readJson<DevFile>(join(LOCAL_DIRECTORY, 'dev.json'));
  // A process that was killed leaves the file behind.
  const isRunning = dev?.portalUrl && (await fetch(dev.portalUrl, { method: 'HEAD' }).catch(() => null));
  return isRunning ? dev : fail('npm start is not running here; start it first.', 1);
}

/** The path of Chromium; ends the process if there is none. */
export function chromiumPath(): string {
  const path = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  return existsSync(path) ? path : fail('There is no Chromium; install it, or set CHROMIUM_PATH.', 1);
}

/** Signs in with the form on the page, as the first user with a role. */
export async function signInAs(page: Page, dev: DevFile, role: DemoSignIn['role']): Promise<void> {
  const user = dev.signIns.find((signIn) => signIn.role === role);
  await page.goto(dev.portalUrl);
  await page.locator('input[type="email"]').fill(user?.email ?? '');
  await page.locator('input[type="password"]').fill(user?.password ?? '');
  await page.locator('button[type="submit"]').click();
  await page.locator('.shell').waitFor();
}

/** Ends the process with a line that says what is wrong. */
export function fail(line: string, exitCode: number): never {
  process.stderr.write(`${line}\n`);
  process.exit(exitCode);
}
