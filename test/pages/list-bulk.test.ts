import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import {
  afterKeys,
  becomes,
  insertBulk,
  numbered,
  type ReviewedShop,
  rowOf,
  statesOf,
  useReviewList,
  watchDecisions,
} from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, open, review, openList } = useReviewList();

const selectAll = (page: Page) => page.getByRole('checkbox', { name: 'Select all' }).check();
const bulk = (page: Page) => page.getByRole('toolbar', { name: 'Selected orders' });
const dialogOf = (page: Page, title: string) => page.getByRole('dialog', { name: title });

async function countIn(shop: ReviewedShop, state: string): Promise<number> {
  return Object.values(await statesOf(stack, shop)).filter((other) => other === state).length;
}

/** An order without a phone number and without a warning. */
const blocked = (number: string) => numbered(number, { customer: { name: 'Omar' } });

describe('confirming an order that cannot be delivered', () => {
  test('asks first, and says why', async () => {
    const { shop, page, decisions } = await openList(blocked('A-1'), numbered('A-2'));
    await rowOf(page, 'A-1').getByText('No phone', { exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('c');
    const dialog = dialogOf(page, 'Confirm');
    await dialog.getByText('It cannot be delivered: No phone').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await afterKeys(page);
    expect(decisions).toEqual([]);
    await page.keyboard.press('c');
    await dialog.getByRole('button', { name: 'Confirm anyway' }).click();
    await becomes(stack, shop, 'A-1', 'confirmed');
    expect(await statesOf(stack, shop)).toMatchObject({ 'A-2': 'needs_review' });
  });

  test('in a larger selection offers to confirm only the deliverable orders', async () => {
    const { shop, page } = await openList(
      blocked('B-1'),
      numbered('B-2'),
      numbered('B-3', { emirate: 'Atlantis' }),
      numbered('B-4'),
    );
    await rowOf(page, 'B-3').getByText('Emirate unknown', { exact: true }).waitFor();
    await selectAll(page);
    await bulk(page).getByRole('button', { name: 'Confirm' }).click();
    const dialog = dialogOf(page, '2 of 4 cannot be delivered');
    await dialog.waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Confirm 2 deliverable orders' }).click();
    await becomes(stack, shop, 'B-2', 'confirmed');
    await becomes(stack, shop, 'B-4', 'confirmed');
    expect(await statesOf(stack, shop)).toMatchObject({ 'B-1': 'needs_review', 'B-3': 'needs_review' });
    await rowOf(page, 'B-1').waitFor();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
  });
});

describe('a decision about more than 50 orders', () => {
  test('is taken only after their number was typed', async () => {
    const shop = await open();
    await insertBulk(stack, shop, 60);
    const page = await review(shop);
    const decisions = watchDecisions(page);
    await rowOf(page, 'BULK-0060').waitFor();
    await selectAll(page);
    await page.keyboard.press('c');
    const dialog = dialogOf(page, 'Confirm 60 orders');
    await dialog.getByRole('textbox').fill('6');
    await page.keyboard.press('Enter');
    await dialog.getByText('That is not 60.').waitFor();
    await expectAccessible(page);
    await afterKeysInDialog(page);
    expect(decisions).toEqual([]);
    await dialog.getByRole('textbox').fill('٦٠');
    await page.keyboard.press('Enter');
    await until('all are confirmed', async () => (await countIn(shop, 'confirmed')) === 60);
    await page.locator('.decision', { hasText: '60 orders confirmed' }).waitFor();
  });

  test('asks for the reason of a rejection after their number', async () => {
    const shop = await open();
    await insertBulk(stack, shop, 51);
    const page = await review(shop);
    await rowOf(page, 'BULK-0051').waitFor();
    await selectAll(page);
    await bulk(page).getByRole('button', { name: 'Reject' }).click();
    await dialogOf(page, 'Reject 51 orders').getByRole('textbox').fill('51');
    await page.keyboard.press('Enter');
    await page.getByRole('radio', { name: 'Same as another order' }).check();
    await page.keyboard.press('Enter');
    await until('all are rejected', async () => (await countIn(shop, 'rejected')) === 51);
  });
});

describe('all orders that match', () => {
  test('are selected on request, also those that are not loaded, and those that cannot be delivered are told', async () => {
    const shop = await open(blocked('OLD-1'), numbered('OLD-2', { emirate: 'Sharjah' }));
    await insertBulk(stack, shop, 230);
    const page = await review(shop, { path: '?emirate=AE-DU' });
    await rowOf(page, 'BULK-0230').waitFor();
    await selectAll(page);
    await bulk(page).getByText('100 selected').waitFor();
    await page.getByRole('button', { name: 'Select all 231 orders that match' }).click();
    await bulk(page).getByText('231 selected').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('c');
    await dialogOf(page, '1 of 231 cannot be delivered')
      .getByRole('button', { name: 'Confirm 230 deliverable orders' })
      .click();
    await dialogOf(page, 'Confirm 230 orders').getByRole('textbox').fill('230');
    await page.keyboard.press('Enter');
    await until('they are confirmed', async () => (await countIn(shop, 'confirmed')) === 230);
    expect(await statesOf(stack, shop)).toMatchObject({ 'OLD-1': 'needs_review', 'OLD-2': 'needs_review' });
    await rowOf(page, 'OLD-1').waitFor();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
  });

  test('are selected no more once one of them is deselected or the filters change', async () => {
    const shop = await open();
    await insertBulk(stack, shop, 120);
    const page = await review(shop);
    await rowOf(page, 'BULK-0120').waitFor();
    await selectAll(page);
    await page.getByRole('button', { name: 'Select all 120 orders that match' }).click();
    await bulk(page).getByText('120 selected').waitFor();
    await rowOf(page, 'BULK-0119').getByRole('checkbox').uncheck();
    await bulk(page).getByText('119 selected').waitFor();
    await page.getByRole('searchbox').fill('BULK-0007');
    await rowOf(page, 'BULK-0120').waitFor({ state: 'detached' });
    await bulk(page).waitFor({ state: 'detached' });
  });
});

/** After it, all that was started by keys before was sent. */
async function afterKeysInDialog(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

const select = (page: Page, number: string) => rowOf(page, number).getByRole('checkbox').check();

describe('the selected orders', () => {
  test('are downloaded as a table, without the others', async () => {
    const { page } = await openList(
      numbered('A-1', { customer: { name: '=1+1', phone: '050 123 4567' } }),
      numbered('A-2'),
    );
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
    const { page, decisions } = await openList(
      numbered('B-1', { area: 'Marina', delivery_instructions: 'Knock twice' }),
      numbered('B-2', { customer: { name: 'جاسم', phone: '055 765 4321' } }),
      numbered('B-3'),
    );
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
