import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, holdRequests, intercept, openPage, stopPageClock, visitAs } from '../harness/browser.ts';
import { createPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { afterKeys, becomes, numbered, paneOf, rowOf, useReviewList } from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, portal, open, review } = useReviewList();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
const openThree = () => open(numbered('N-1'), numbered('N-2'), numbered('N-3'));
const nextFor = (page: Page) => page.getByRole('button', { name: 'Next for me' });
const says = (page: Page, text: string) => page.locator('.notice', { hasText: text }).waitFor();
/** Counts the requests for the next order. */
function watchClaims(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/orders/next')) asked.push(request.postData() ?? '');
  });
  return asked;
}

describe('next for me', () => {
  test('gives two reviewers different orders from the oldest on, and after each decision the next one', async () => {
    const shop = await openThree();
    const colleague = await createPerson(stack, shop.account.id);
    const [page, other] = [await review(shop), await review({ ...shop, person: colleague })];
    for (const one of [page, other]) await rowOf(one, 'N-1').waitFor();
    await page.keyboard.press('n');
    await paneOf(page, 'N-1').waitFor();
    await nextFor(other).click();
    await paneOf(other, 'N-2').waitFor();
    await rowOf(page, 'N-2').getByText('Being viewed by').waitFor({ state: 'attached' });
    await expectAccessible(page);
    await page.keyboard.press('c');
    await paneOf(page, 'N-3').waitFor();
    await becomes(stack, shop, 'N-1', 'confirmed');
    await other.keyboard.press('c');
    await becomes(stack, shop, 'N-2', 'confirmed');
    await says(other, 'Other reviewers have all further orders open.');
    await other.locator('.order-pane').waitFor({ state: 'detached' });
    await rowOf(other, 'N-3').waitFor();
    await page.keyboard.press('n');
    await says(page, 'No further order needs review.');
    await paneOf(page, 'N-3').waitFor();
    await page.keyboard.press('c');
    await becomes(stack, shop, 'N-3', 'confirmed');
    await page.locator('.order-pane').waitFor({ state: 'detached' });
  });

  test('leaves an order for later without a decision, whatever the filters', async () => {
    const page = await review(await openThree(), { path: '?q=N-3' });
    await rowOf(page, 'N-3').waitFor();
    for (const number of ['N-1', 'N-2', 'N-3', 'N-1']) {
      await page.keyboard.press('n');
      await paneOf(page, number).waitFor();
    }
  });

  test('passes no order over unseen, by a double press as by one while it loads', async () => {
    const shop = await openThree();
    const page = await openPage({ isHurried: true });
    const pass = await stopPageClock(page);
    await visitAs(page, portal, shop.person, `/accounts/${shop.account.id}/orders`);
    await rowOf(page, 'N-1').waitFor();
    const claims = watchClaims(page);
    const release = await holdRequests(page, /\/orders\/\d+$/);
    await nextFor(page).dblclick();
    await page.getByRole('heading', { name: 'N-1' }).waitFor();
    await page.keyboard.press('n');
    await pass(500);
    await page.keyboard.press('n');
    await afterKeys(page);
    release();
    await paneOf(page, 'N-1').waitFor();
    expect(claims).toHaveLength(1);
    await page.keyboard.press('n');
    await paneOf(page, 'N-2').waitFor();
    expect(claims).toHaveLength(2);
  });

  test('on a phone goes on from the list, and says that it failed', async () => {
    const page = await review(await openThree(), PHONE);
    await intercept(page, '**/orders/next', (route) => route.abort(), { times: 1 });
    await nextFor(page).tap();
    await page.locator('.notice').waitFor();
    for (const number of ['N-1', 'N-2']) {
      await nextFor(page).tap();
      await paneOf(page, number).waitFor();
      await page.getByRole('button', { name: 'Back to the list' }).tap();
      await rowOf(page, number).waitFor();
    }
    await expectAccessible(page);
  });

  test('does not take a reviewer away who went elsewhere meanwhile', async () => {
    const page = await review(await openThree());
    await rowOf(page, 'N-1').waitFor();
    const release = await holdRequests(page, /\/orders\/next$/);
    await page.keyboard.press('n');
    await rowOf(page, 'N-3').getByRole('link').click();
    await paneOf(page, 'N-3').waitFor();
    const answered = page.waitForResponse(/\/orders\/next$/);
    release();
    await answered;
    await afterKeys(page);
    expect(await paneOf(page, 'N-3').count()).toBe(1);
  });
});
