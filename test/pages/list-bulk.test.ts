import { expect, test } from '@jest/globals';
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
import { until } from '../harness/until.ts';

const describe = describeWith('chromium');

const { stack, open, review } = useReviewList();

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
    const shop = await open(blocked('A-1'), numbered('A-2'));
    const page = await review(shop);
    const decisions = watchDecisions(page);
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
    const shop = await open(blocked('B-1'), numbered('B-2'), numbered('B-3', { emirate: 'Atlantis' }), numbered('B-4'));
    const page = await review(shop);
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
