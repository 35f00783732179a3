import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expectAccessible, holdRequests, intercept, openPage, visitAs } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import { numbered, paneOf, useOpenOrder } from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, portal, shop, begin, colleague, knex } = useOpenOrder();

const KITCHEN_ORDER = numbered('K-7', {
  customer: { name: 'فاطمة', phone: '050 123 4567' },
  items: [
    { name: 'Karak, Size: Large, no sugar', quantity: 2, sku: 'K-1' },
    { name: 'Samosa', quantity: 12 },
  ],
  payment_state: 'cash_on_delivery',
  delivery_method: 'pickup',
  delivery_time: 'today, 18:30',
  delivery_instructions: 'Ring twice',
});

/** Opens an order, of which each paper is collected as text, in place of a printer. */
async function visitWithPrinter(
  orderId: number,
  options: BrowserContextOptions & { person?: typeof shop.person } = {},
) {
  const { person = shop.person, ...context } = options;
  const page = await openPage(context);
  await page.addInitScript(
    `window.papers = [];
     window.print = () => papers.push(document.querySelector('.printed-order').innerText.replaceAll(/\\n\\s*/g, '\\n'));`,
  );
  await visitAs(page, portal, person, `/accounts/${shop.account.id}/orders/${orderId}`);
  await page.locator('.raw pre').waitFor();
  return page;
}

const papersOf = (page: Page) => page.evaluate<string[]>('papers');
/** Waits for this number of papers, and returns the last one. */
async function paper(page: Page, count: number): Promise<string> {
  await until(`${count} papers`, async () => (await papersOf(page)).length >= count);
  const papers = await papersOf(page);
  expect(papers).toHaveLength(count);
  return papers.at(-1) as string;
}
const view = (page: Page) => page.getByRole('dialog', { name: 'Print order K-7' });
const printButton = (page: Page) => view(page).getByRole('button', { name: 'Print', exact: true });
const storedPrints = () => knex('order_prints').where({ account_id: shop.account.id });

/** The pages of the PDF that the browser prints, each with its width and height in millimetres. */
async function printedPages(page: Page): Promise<[number, number][]> {
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  const boxes = [...pdf.matchAll(/\/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]/g)];
  return boxes.map(([, width, height]) => [Number(width), Number(height)].map((points) => (points / 72) * 25.4)) as [
    number,
    number,
  ][];
}

describe('a printed order', () => {
  test('has on its ticket what the kitchen and the courier need, the quantities first, and is recorded', async () => {
    const id = await begin(KITCHEN_ORDER);
    const page = await visitWithPrinter(id);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Print', exact: true }).click();
    await view(page).getByText('Collect on delivery').waitFor();
    await expectAccessible(page);
    expect(await storedPrints()).toEqual([]);
    await printButton(page).click();
    const lines = (await paper(page, 1)).split('\n');
    expect(lines.slice(0, -1)).toEqual([
      'K-7',
      'Pickup',
      'today, 18:30',
      ...['2 ×', 'Karak', 'Size: Large', 'no sugar', 'K-1'],
      ...['12 ×', 'Samosa'],
      'Ring twice',
      expect.stringMatching(/^Collect on delivery: .1,250\.50 AED.$/),
      'Total: 1,250.50 AED',
      'فاطمة',
      '+971 50 123 4567',
      'Villa 12, Street 4, Dubai',
    ]);
    expect(lines.at(-1)).toMatch(/^From: REST · /);
    expect(await storedPrints()).toMatchObject([{ order_id: id, printed_by: shop.person.email, count: 1 }]);
    await page.keyboard.press('Escape');
    await view(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More actions' }).and(page.locator(':focus')).waitFor();
    await paneOf(page, 'K-7')
      .getByText(/^Printed .*\d\d:\d\d by /)
      .waitFor();
    await paneOf(page, 'K-7').locator('.history').getByText('Printed', { exact: true }).waitFor();
  });

  test('by somebody else says so on the order, and the next paper is marked as a reprint', async () => {
    const id = await begin(KITCHEN_ORDER);
    const page = await visitWithPrinter(id);
    const other = await colleague();
    await other.post(`/orders/${id}/prints`);
    await page.keyboard.press('p');
    // Clicked twice, it is printed once.
    await printButton(page).dblclick();
    expect(await paper(page, 1)).toMatch(
      new RegExp(`^Reprint 2 · first printed .*\\d\\d:\\d\\d by .${other.person.email}.\n`),
    );
    await view(page).getByRole('button', { name: 'Close' }).click();
    await paneOf(page, 'K-7')
      .getByText(new RegExp(`^Printed 2 times, first \\d\\d:\\d\\d by .${other.person.email}.$`))
      .waitFor();
    await expectAccessible(page);
  });

  test('is printed as it is now, also if it was changed since it was shown', async () => {
    const id = await begin(KITCHEN_ORDER);
    const page = await visitWithPrinter(id);
    await page.keyboard.press('p');
    await view(page).waitFor();
    const letGo = await holdRequests(page, /\/prints$/);
    await printButton(page).click();
    const other = await colleague();
    await other.patch(`/orders/${id}`, { edits: { '/address': 'Villa 99' } });
    await letGo();
    expect(await paper(page, 1)).toContain('Villa 99, Dubai');
  });

  test('of a test, of a cancelled order and of one that is paid say so', async () => {
    const id = await begin({ ...KITCHEN_ORDER, payment_state: 'paid' });
    await knex('orders').where({ order_id: id }).update({ is_test: true, review_state: 'cancelled' });
    const page = await visitWithPrinter(id);
    await page.keyboard.press('p');
    await printButton(page).click();
    const text = await paper(page, 1);
    expect(text).toMatch(/^TEST – do not deliver\nCANCELLED\nK-7/);
    expect(text).toMatch(/\nPAID\n/);
  });

  test('in a test account says that it is a test', async () => {
    const id = await begin(KITCHEN_ORDER);
    const live = await stack.account();
    await knex('memberships').where({ account_id: shop.account.id }).update({ account_id: live.id });
    await knex('accounts').where({ account_id: shop.account.id }).update({ test_of: live.id });
    const page = await visitWithPrinter(id);
    await page.keyboard.press('p');
    await printButton(page).click();
    expect(await paper(page, 1)).toMatch(/^TEST – do not deliver\nK-7/);
  });

  test('that cannot be recorded is printed as a copy, and only on request', async () => {
    const id = await begin(KITCHEN_ORDER);
    const page = await visitWithPrinter(id);
    await intercept(page, '**/prints', (route) => route.abort());
    await page.keyboard.press('p');
    await printButton(page).click();
    await view(page).getByText('could not be recorded').waitFor();
    await expectAccessible(page);
    expect(await papersOf(page)).toEqual([]);
    await view(page).getByRole('button', { name: 'Print anyway' }).click();
    expect(await paper(page, 1)).toMatch(/^COPY – the print was not recorded\nK-7/);
    expect(await storedPrints()).toEqual([]);
    await page.unroute('**/prints');
    await view(page).getByRole('button', { name: 'Try again' }).click();
    expect(await paper(page, 2)).toMatch(/^K-7/);
    expect(await storedPrints()).toMatchObject([{ count: 1 }]);
  });

  test('whose recording got no reply is recorded once: trying again is no reprint', async () => {
    const id = await begin(KITCHEN_ORDER);
    const page = await visitWithPrinter(id);
    await intercept(page, '**/prints', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.keyboard.press('p');
    await printButton(page).click();
    await view(page).getByText('could not be recorded').waitFor();
    await page.unroute('**/prints');
    await view(page).getByRole('button', { name: 'Try again' }).click();
    expect(await paper(page, 1)).toMatch(/^K-7/);
    expect(await storedPrints()).toMatchObject([{ count: 1 }]);
  });

  test('is on a ticket of 80 mm as long as its order, or on A4, as chosen on this device; what is not recorded is a copy', async () => {
    const id = await begin(KITCHEN_ORDER);
    const page = await visitWithPrinter(id, { colorScheme: 'dark' });
    await page.keyboard.press('p');
    await view(page).getByRole('radio', { name: 'Ticket, 80 mm', checked: true }).waitFor();
    const [[width, height] = [0, 0], ...others] = await printedPages(page);
    expect([Math.round(width), others]).toEqual([80, []]);
    expect(height).toBeLessThan(250);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.shell').isVisible()).toBe(false);
    expect(await printButton(page).isVisible()).toBe(false);
    expect(await view(page).getByText('COPY').isVisible()).toBe(true);
    const colours = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.printed-order, .printed-order *')].map((one) => {
        const { color, borderTopColor } = getComputedStyle(one);
        return color + ' ' + borderTopColor;
      })`,
    );
    expect(new Set(colours)).toEqual(new Set(['rgb(0, 0, 0) rgb(0, 0, 0)']));
    await page.emulateMedia({ media: null });
    // As Control+P of the browser would print it unrecorded.
    await page.keyboard.press('Control+p');
    expect(await paper(page, 1)).toMatch(/^K-7/);
    await view(page).getByRole('radio', { name: 'Page, A4' }).check();
    expect((await printedPages(page)).map((size) => size.map(Math.round))).toEqual([[210, 297]]);
    await page.reload();
    await page.locator('.raw pre').waitFor();
    await page.keyboard.press('p');
    await view(page).getByRole('radio', { name: 'Page, A4', checked: true }).waitFor();
    await expectAccessible(page);
  });

  test('with very many items has all of them, on as many pages as it takes', async () => {
    const items = Array.from({ length: 1000 }, (_, index) => ({ name: `Item ${index + 1}`, quantity: 1 }));
    const id = await begin({ ...KITCHEN_ORDER, items });
    await knex('orders')
      .where({ order_id: id })
      .update({ items: knex.raw(`items || '[{"name":"Last","quantity":1,"sku":null}]'`) });
    const page = await visitWithPrinter(id);
    await page.keyboard.press('p');
    await printButton(page).click();
    const text = await paper(page, 1);
    expect(text).toContain('Item 1000\n');
    expect(text).toContain('1 more item is not printed here.');
    expect((await printedPages(page)).length).toBeGreaterThan(1);
  });

  test('keeps its numbers from left to right in Arabic, on a phone too', async () => {
    const id = await begin(KITCHEN_ORDER);
    const page = await visitWithPrinter(id, { locale: 'ar', viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'إجراءات أخرى' }).click();
    await page.getByRole('button', { name: 'طباعة', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: /طباعة الطلب/ });
    await dialog.getByText('يُحصَّل عند الاستلام').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await expectAccessible(page);
    const directions = await dialog
      .locator('bdi', { hasText: /^(\+971 50 123 4567|1,250\.50 AED|2 ×)$/ })
      .evaluateAll((all) => all.map((one) => one.getAttribute('dir')));
    expect(directions).toEqual(['ltr', 'ltr', 'ltr']);
    await dialog.getByRole('button', { name: 'طباعة', exact: true }).click();
    expect(await paper(page, 1)).toContain('\u20661,250.50 AED\u2069');
  });
});
