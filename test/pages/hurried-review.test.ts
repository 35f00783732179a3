import { expect, test } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expectAccessible, holdRequests, openPage, stopPageClock, visitAs } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import {
  afterKeys,
  becomes,
  currentRow,
  numbered,
  paneOf,
  type ReviewedShop,
  rowOf,
  useReviewList,
  watchDecisions,
} from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, portal, open } = useReviewList();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
const openThree = () => open(numbered('H-1'), numbered('H-2'), numbered('H-3'));
const confirmOf = (page: Page, number: string) =>
  page.locator('.order-pane').getByRole('button', { name: `Confirm order ${number}`, exact: true });
/** Confirm and Reject wait until the whole order is shown. */
const untilLoaded = (page: Page) => page.locator('.order-pane[aria-busy="false"]').waitFor();
const isConfirmed = (shop: ReviewedShop, number: string) => becomes(stack, shop, number, 'confirmed');

interface Hurry {
  page: Page;
  /** Lets milliseconds pass by the page's clock, which stands otherwise. */
  pass: (ms: number) => Promise<void>;
  decisions: ReturnType<typeof watchDecisions>;
}

/** Opens the list, or an order of it, on a page whose clock stands. */
async function hurry(
  shop: ReviewedShop,
  { opened, ...options }: BrowserContextOptions & { opened?: string } = {},
): Promise<Hurry> {
  const page = await openPage(options);
  const pass = await stopPageClock(page);
  await visitAs(page, portal, shop.person, `/accounts/${shop.account.id}/orders`);
  if (opened !== undefined) {
    await rowOf(page, opened).getByRole('link').click();
    await confirmOf(page, opened).waitFor();
    await untilLoaded(page);
  }
  return { page, pass, decisions: watchDecisions(page) };
}

describe('whoever decides twice in a hurry', () => {
  test('by a double click confirms one order', async () => {
    const shop = await openThree();
    const { page, pass, decisions } = await hurry(shop, { opened: 'H-3' });
    await pass(500);
    await confirmOf(page, 'H-3').dblclick();
    await isConfirmed(shop, 'H-3');
    await confirmOf(page, 'H-2').waitFor();
    await afterKeys(page);
    expect(decisions).toHaveLength(1);
  });

  test('by two clicks confirms one order, until the next one was shown for half a second', async () => {
    const shop = await openThree();
    const { page, pass, decisions } = await hurry(shop, { opened: 'H-3' });
    await confirmOf(page, 'H-3').click();
    await pass(499);
    await confirmOf(page, 'H-3').click();
    await afterKeys(page);
    expect(decisions).toEqual([]);
    await pass(1);
    await confirmOf(page, 'H-3').click();
    await confirmOf(page, 'H-2').click();
    await pass(250);
    await confirmOf(page, 'H-2').click();
    await page.locator('.order-pane').getByRole('button', { name: 'Reject order H-2', exact: true }).click();
    await isConfirmed(shop, 'H-3');
    await afterKeys(page);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(decisions).toHaveLength(1);
    await pass(250);
    await confirmOf(page, 'H-2').click();
    await isConfirmed(shop, 'H-2');
    expect(decisions).toHaveLength(2);
  });

  test('by the key confirms one order, in the list as in the order', async () => {
    const shop = await openThree();
    const { page, pass, decisions } = await hurry(shop);
    await rowOf(page, 'H-3').waitFor();
    await page.keyboard.press('j');
    await currentRow(page, 'H-3').waitFor();
    await pass(500);
    await page.keyboard.press('c');
    await currentRow(page, 'H-2').waitFor();
    await pass(60);
    await page.keyboard.press('c');
    await page.keyboard.press('Enter');
    await confirmOf(page, 'H-2').waitFor();
    await page.keyboard.press('c');
    await page.keyboard.press('r');
    await afterKeys(page);
    await isConfirmed(shop, 'H-3');
    expect(decisions).toHaveLength(1);
    await pass(500);
    await page.keyboard.press('c');
    await isConfirmed(shop, 'H-2');
    await paneOf(page, 'H-1').waitFor();
    await page.keyboard.press('c');
    await afterKeys(page);
    expect(decisions).toHaveLength(2);
  });

  test('by two taps on a phone confirms one order', async () => {
    const shop = await openThree();
    const { page, pass, decisions } = await hurry(shop, { ...PHONE, opened: 'H-3' });
    await pass(500);
    await confirmOf(page, 'H-3').tap();
    await confirmOf(page, 'H-2').waitFor();
    await pass(180);
    await confirmOf(page, 'H-2').tap();
    await isConfirmed(shop, 'H-3');
    await afterKeys(page);
    expect(decisions).toHaveLength(1);
    await pass(320);
    await confirmOf(page, 'H-2').tap();
    await isConfirmed(shop, 'H-2');
  });
});

describe('a decision', () => {
  test('waits until the whole order is shown, which appears at once', async () => {
    const shop = await open(numbered('H-1'), numbered('H-2'));
    const { page, pass, decisions } = await hurry(shop);
    const release = await holdRequests(page, /\/orders\/\d+$/);
    await rowOf(page, 'H-2').getByRole('link').click();
    const confirm = confirmOf(page, 'H-2');
    await confirm.waitFor();
    await pass(500);
    await page.keyboard.press('c');
    await page.keyboard.press('r');
    await confirm.dispatchEvent('click');
    await afterKeys(page);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    expect(await page.locator('.order-facts').count()).toBe(0);
    await expectAccessible(page);
    release();
    await paneOf(page, 'H-2').locator('.order-facts').waitFor();
    expect(await page.locator('.order-pane .skeleton').count()).toBe(0);
    expect(decisions).toEqual([]);
    await page.keyboard.press('c');
    await isConfirmed(shop, 'H-2');
  });

  test('is not made by a key that is held down on the button', async () => {
    const shop = await openThree();
    const { page, pass, decisions } = await hurry(shop, { opened: 'H-3' });
    await pass(500);
    await confirmOf(page, 'H-3').focus();
    await page.keyboard.down('Enter');
    await confirmOf(page, 'H-2').waitFor();
    await untilLoaded(page);
    await pass(600);
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await isConfirmed(shop, 'H-3');
    expect(decisions).toHaveLength(1);
    await confirmOf(page, 'H-2').press('Enter');
    await isConfirmed(shop, 'H-2');
  });

  test('is not made by a click that began on another order', async () => {
    const shop = await openThree();
    const { page, pass, decisions } = await hurry(shop, { opened: 'H-3' });
    await pass(500);
    await confirmOf(page, 'H-3').hover();
    await page.mouse.down();
    await page.evaluate(`document.body.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'j', code: 'KeyJ', bubbles: true, cancelable: true, repeat: true }))`);
    await confirmOf(page, 'H-2').waitFor();
    await untilLoaded(page);
    await pass(600);
    await page.mouse.up();
    await afterKeys(page);
    expect(decisions).toEqual([]);
    await confirmOf(page, 'H-2').click();
    await isConfirmed(shop, 'H-2');
  });

  test('is made by a click without a pointer, as screen readers click', async () => {
    const shop = await openThree();
    const { page, pass, decisions } = await hurry(shop, { opened: 'H-3' });
    const click = (number: string) =>
      confirmOf(page, number).evaluate((button) => (button as unknown as { click(): void }).click());
    await pass(500);
    await click('H-3');
    await confirmOf(page, 'H-2').waitFor();
    await untilLoaded(page);
    await click('H-2');
    await isConfirmed(shop, 'H-3');
    await afterKeys(page);
    expect(decisions).toHaveLength(1);
    await pass(500);
    await click('H-2');
    await isConfirmed(shop, 'H-2');
  });
});
