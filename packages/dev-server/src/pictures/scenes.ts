import type { Page } from 'playwright-core';

/** A state of the portal to take a screenshot of. */
export interface Scene {
  name: string;
  as: 'account_holder' | 'operator' | 'nobody';
  path: (accountId: number) => string;
  /** Runs before the screenshot. */
  prepare?: (page: Page) => Promise<void>;
}

const review = (id: number) => `/accounts/${id}/orders`;

export const SCENES: Scene[] = [
  { name: 'sign-in', as: 'nobody', path: () => '/' },
  { name: 'review', as: 'account_holder', path: review },
  { name: 'order', as: 'account_holder', path: (id) => `${review(id)}?severity=check`, prepare: openOrder },
  { name: 'blocked', as: 'account_holder', path: (id) => `${review(id)}?severity=blocks`, prepare: openOrder },
  { name: 'reject', as: 'account_holder', path: review, prepare: openRejectDialog },
  { name: 'selection', as: 'account_holder', path: review, prepare: selectOrders },
  { name: 'palette', as: 'account_holder', path: review, prepare: openPalette },
  { name: 'shortcuts', as: 'account_holder', path: review, prepare: openShortcuts },
  { name: 'confirmed', as: 'account_holder', path: (id) => `${review(id)}?state=confirmed` },
  { name: 'cancelled', as: 'account_holder', path: (id) => `${review(id)}?state=cancelled`, prepare: openOrder },
  { name: 'shops', as: 'account_holder', path: (id) => `/accounts/${id}/shops` },
  { name: 'upload', as: 'account_holder', path: (id) => `/accounts/${id}/upload`, prepare: chooseFile },
  { name: 'developers', as: 'account_holder', path: (id) => `/accounts/${id}/developers` },
  { name: 'settings', as: 'account_holder', path: (id) => `/accounts/${id}/settings` },
  { name: 'rejected', as: 'account_holder', path: (id) => `/accounts/${id}/rejected` },
  { name: 'receipts', as: 'account_holder', path: (id) => `/accounts/${id}/receipts` },
  { name: 'people', as: 'account_holder', path: (id) => `/accounts/${id}/users` },
  { name: 'overview', as: 'account_holder', path: (id) => `/accounts/${id}/overview` },
  { name: 'log', as: 'account_holder', path: (id) => `/accounts/${id}/log` },
  { name: 'profile', as: 'account_holder', path: () => '/profile' },
  { name: 'help', as: 'account_holder', path: () => '/help' },
  { name: 'operator', as: 'operator', path: () => '/operator' },
  { name: 'users', as: 'operator', path: () => '/operator/users' },
  { name: 'service', as: 'operator', path: () => '/operator/service' },
  { name: 'operator-log', as: 'operator', path: () => '/operator/log' },
];

async function openOrder(page: Page): Promise<void> {
  await page.locator('.order-row .order-number').first().click();
  await page.locator('.order-pane .fact').first().waitFor();
  await page.locator('.order-pane .skeleton').first().waitFor({ state: 'detached' });
}

const TABLE = `Order no;Customer;Mobile;Address;Emirate;Item;Qty;Total
A-101;Aisha Khan;050 123 4567;Villa 12, Al Wasl Road;Dubai;Brass lamp;1;94.00
A-101;;;;;Linen shade;2;
A-102;Omar Saleh;055 765 4321;Flat 9, Corniche;Ajmn;Bulb;2;49.00
`;

async function chooseFile(page: Page): Promise<void> {
  const file = { name: 'orders.csv', mimeType: 'text/csv', buffer: Buffer.from(TABLE) };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.locator('.upload-orders tbody tr').first().waitFor();
}

async function openRejectDialog(page: Page): Promise<void> {
  await openOrder(page);
  // A click on what was shown for less than half a second decides nothing.
  await page.waitForTimeout(1000);
  await page.locator(':is(.order-actions, .order-bar) .button-bad').click();
  await page.locator('dialog[open]').waitFor();
}

async function selectOrders(page: Page): Promise<void> {
  const boxes = page.locator('.order-row input[type="checkbox"]');
  for (const index of [0, 1, 2]) await boxes.nth(index).check();
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.locator('dialog[open]').waitFor();
}

async function openShortcuts(page: Page): Promise<void> {
  await page.keyboard.press('?');
  await page.locator('dialog[open]').waitFor();
}
