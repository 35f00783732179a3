import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, holdRequests, intercept, stopTime } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import {
  becomes,
  currentRow,
  extendUndoOf,
  numbered,
  paneOf,
  rowOf,
  statesOf,
  useReviewList,
} from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, open, review, openList } = useReviewList();

const PHONE = { viewport: { width: 390, height: 844 } };
const REVIEW = '**/orders/review';

const openThree = () => open(numbered('D-1'), numbered('D-2'), numbered('D-3'));
const strip = (page: Page) => page.locator('.decision-strip');
const told = (page: Page, text: string | RegExp) => page.locator('.decision', { hasText: text });
const failure = (page: Page, number: string) => page.locator('.decision.is-failed', { hasText: number });
const buttonIn = (page: Page, number: string, name: string) =>
  failure(page, number).getByRole('button', { name, exact: true });

async function openOrder(page: Page, number: string): Promise<void> {
  await rowOf(page, number).getByRole('link').click();
  await paneOf(page, number).waitFor();
}

async function boxOf(page: Page, selector: string) {
  const box = await page.locator(selector).boundingBox();
  if (!box) throw new Error(`${selector} is not shown`);
  return box;
}

describe('a decision', () => {
  test('is told as running, and as made only once the service has made it', async () => {
    const shop = await openThree();
    const page = await review(shop);
    await openOrder(page, 'D-3');
    const release = await holdRequests(page, /\/orders\/review$/);
    await page.keyboard.press('c');
    await paneOf(page, 'D-2').waitFor();
    await strip(page).getByRole('status').getByText('Confirming').getByText('D-3').waitFor();
    expect(await told(page, /^Confirmed/).count()).toBe(0);
    expect(await strip(page).getByRole('button').count()).toBe(0);
    await expectAccessible(page);
    release();
    await told(page, /^Confirmed .D-3/).waitFor();
    await expectAccessible(page);
    expect(await statesOf(stack, shop)).toMatchObject({ 'D-3': 'confirmed', 'D-2': 'needs_review' });
  });

  test('that fails is told for each order, until it is sent again, opened or closed, also from another page', async () => {
    const shop = await openThree();
    const page = await review(shop);
    await openOrder(page, 'D-3');
    await intercept(page, REVIEW, (route) => route.abort());
    await page.keyboard.press('c');
    await paneOf(page, 'D-2').waitFor();
    await page.keyboard.press('c');
    await paneOf(page, 'D-1').waitFor();
    for (const number of ['D-2', 'D-3'])
      await strip(page)
        .getByRole('alert')
        .getByText(new RegExp(`${number}.* was not confirmed. The portal cannot be reached.`))
        .waitFor();
    await rowOf(page, 'D-3').waitFor();
    expect(await told(page, /Confirmed/).count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await page.locator('.review').waitFor({ state: 'detached' });
    await page.goBack();
    await failure(page, 'D-2').waitFor();
    await page.unroute(REVIEW);
    await buttonIn(page, 'D-3', 'Try again').click();
    await becomes(stack, shop, 'D-3', 'confirmed');
    await told(page, /^Confirmed .D-3/).waitFor();
    await rowOf(page, 'D-3').waitFor({ state: 'detached' });
    await buttonIn(page, 'D-2', 'Open').click();
    await paneOf(page, 'D-2').waitFor();
    await failure(page, 'D-2').waitFor({ state: 'detached' });
  });

  test('whose response was lost is made once, and its failure is taken back', async () => {
    const shop = await openThree();
    const page = await review(shop);
    await openOrder(page, 'D-3');
    const release = await holdRequests(page, /\/orders\/updates/);
    await intercept(page, REVIEW, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.keyboard.press('c');
    await failure(page, 'D-3').waitFor();
    release();
    await failure(page, 'D-3').waitFor({ state: 'detached' });
    await rowOf(page, 'D-3').waitFor({ state: 'detached' });
    expect(await statesOf(stack, shop)).toMatchObject({ 'D-3': 'confirmed' });
  });

  test('is repeated with the same key, and a new decision about the order has another', async () => {
    const { page } = await openList(numbered('D-1'));
    const ids: (string | undefined)[] = [];
    await intercept(page, REVIEW, (route) => {
      ids.push(route.request().headers()['idempotency-key']);
      return route.abort();
    });
    await openOrder(page, 'D-1');
    await page.keyboard.press('c');
    await buttonIn(page, 'D-1', 'Try again').click();
    await until('it is sent twice', async () => ids.length === 2);
    await buttonIn(page, 'D-1', 'Close').click();
    await openOrder(page, 'D-1');
    await page.keyboard.press('c');
    await failure(page, 'D-1').waitFor();
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  test('after others is undone alone; the message counts them', async () => {
    const shop = await openThree();
    const page = await review(shop);
    await stopTime(page);
    await openOrder(page, 'D-3');
    for (const [number, next] of [
      ['D-3', 'D-2'],
      ['D-2', 'D-1'],
    ] as const) {
      await page.keyboard.press('c');
      await becomes(stack, shop, number, 'confirmed');
      await paneOf(page, next).waitFor();
    }
    await told(page, '2 orders confirmed').waitFor();
    await extendUndoOf(stack, shop, 2);
    await strip(page).getByRole('button', { name: 'Undo the last' }).click();
    await becomes(stack, shop, 'D-2', 'needs_review');
    await told(page, /Confirmed .D-3.*Undone: .D-2/).waitFor();
    expect(await statesOf(stack, shop)).toMatchObject({ 'D-3': 'confirmed' });
  });
});

describe('what is told about decisions', () => {
  test.each([
    ['beside the list', {}],
    ['on a phone', PHONE],
  ])('covers and moves nothing of the next order, %s', async (_where, options) => {
    const name = 'A customer whose name is so very long that nobody wants to read it';
    const shop = await open(numbered('D-1'), numbered('D-2', { customer: { name, phone: '050 123 4567' } }));
    const page = await review(shop, options);
    await openOrder(page, 'D-2');
    const before = await boxOf(page, '.order-content');
    const confirm = page.locator('.order-pane').getByRole('button', { name: /^Confirm order/ });
    const button = await confirm.boundingBox();
    await intercept(page, REVIEW, (route) => route.abort());
    await page.keyboard.press('c');
    await paneOf(page, 'D-1').waitFor();
    await failure(page, 'D-2').waitFor();
    expect(await failure(page, 'D-2').textContent()).not.toContain('so very long that');
    const [content, message] = [await boxOf(page, '.order-content'), await boxOf(page, '.decision-strip')];
    expect([content.x, content.y, content.width]).toEqual([before.x, before.y, before.width]);
    expect(await confirm.boundingBox()).toEqual(button);
    const isApart = message.x + message.width <= content.x || message.y >= content.y + content.height;
    expect(isApart).toBe(true);
    await expectAccessible(page);
  });

  test('is closed without deciding, in Arabic too', async () => {
    const shop = await openThree();
    const page = await review(shop, { locale: 'ar' });
    await rowOf(page, 'D-3').waitFor();
    await intercept(page, REVIEW, (route) => route.abort());
    await page.keyboard.press('j');
    await currentRow(page, 'D-3').waitFor();
    await page.keyboard.press('c');
    await failure(page, 'D-3').getByText('لم يُؤكَّد').waitFor();
    await expectAccessible(page);
    await buttonIn(page, 'D-3', 'إغلاق').click();
    await failure(page, 'D-3').waitFor({ state: 'detached' });
  });
});
