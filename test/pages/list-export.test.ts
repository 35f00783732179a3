import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import { afterKeys, insertBulk, numbered, rowOf, useReviewList, watchDecisions } from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, open, review } = useReviewList();

const bulk = (page: Page) => page.getByRole('toolbar', { name: 'Selected orders' });
const select = (page: Page, number: string) => rowOf(page, number).getByRole('checkbox').check();

describe('the selected orders', () => {
  test('are downloaded as a table, without the others', async () => {
    const shop = await open(numbered('A-1', { customer: { name: '=1+1', phone: '050 123 4567' } }), numbered('A-2'));
    const page = await review(shop);
    await select(page, 'A-1');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      bulk(page).getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^orders-\d{4}-\d\d-\d\d\.csv$/);
    const [head, ...rows] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    expect(head).toContain('order_number');
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain("'=1+1");
    await bulk(page).getByText('1 selected').waitFor();
  });

  test('are printed alone, each with what the courier needs, and no key decides meanwhile', async () => {
    const shop = await open(
      numbered('B-1', { area: 'Marina', delivery_instructions: 'Knock twice' }),
      numbered('B-2', { customer: { name: 'جاسم', phone: '055 765 4321' } }),
      numbered('B-3'),
    );
    const page = await review(shop);
    const decisions = watchDecisions(page);
    await select(page, 'B-1');
    await select(page, 'B-2');
    await bulk(page).getByRole('button', { name: 'Print' }).click();
    const view = page.getByRole('dialog', { name: 'Orders to print' });
    await view.getByText('Knock twice').waitFor();
    await view.getByText('جاسم').waitFor();
    await view.getByText('+971 50 123 4567').waitFor();
    await view.getByText('1,250.50 AED').first().waitFor();
    expect(await view.getByText('B-3').count()).toBe(0);
    await expectAccessible(page);
    await page.keyboard.press('c');
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.shell').isVisible()).toBe(false);
    expect(await view.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
    expect(await view.getByText('Villa 12, Street 4, Marina, Dubai').isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    await page.keyboard.press('Escape');
    await view.waitFor({ state: 'detached' });
    await bulk(page).getByRole('button', { name: 'Print' }).and(page.locator(':focus')).waitFor();
    await afterKeys(page);
    expect(decisions).toEqual([]);
  });

  test('of more than 1,000 are neither downloaded nor printed, and the buttons say why', async () => {
    const shop = await open();
    await insertBulk(stack, shop, 1001);
    const page = await review(shop);
    await rowOf(page, 'BULK-1001').waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('button', { name: 'Select all 1,001 orders that match' }).click();
    await bulk(page).getByText('1,001 selected').waitFor();
    const button = bulk(page).getByRole('button', { name: 'Download as CSV' });
    expect(await button.isDisabled()).toBe(true);
    expect(await button.getAttribute('title')).toBe('At most 1,000 orders');
    await expectAccessible(page);
  });
});
