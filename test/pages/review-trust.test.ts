import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Page, Route } from 'playwright-core';
import { holdRequests, intercept, stopTime } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import {
  afterKeys,
  becomes,
  currentRow,
  extendUndoOf,
  insertBulk,
  numbered,
  paneOf,
  rowOf,
  statesOf,
  useReviewList,
  watchDecisions,
} from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, open, review, openList } = useReviewList();

const PHONE = { viewport: { width: 390, height: 844 } };
/** The open order; others are named in it as its likely duplicates. */
const scrollOf = (page: Page) => page.locator('.order-scroll').evaluate((list) => list.scrollTop);
const isInSight = (page: Page, number: string) =>
  rowOf(page, number).evaluate((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    const list = row.closest('.order-scroll')?.getBoundingClientRect();
    return list !== undefined && top >= list.top - 1 && bottom <= list.bottom + 1;
  });

describe('a decision', () => {
  test('after a search is about the first result, never about the order that was current before', async () => {
    const { shop, page } = await openList(numbered('A-1'), numbered('A-2'), numbered('A-3'));
    await rowOf(page, 'A-3').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await currentRow(page, 'A-2').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('A-1');
    await page.keyboard.press('Enter');
    await paneOf(page, 'A-1').waitFor();
    await page.keyboard.press('c');
    await becomes(stack, shop, 'A-1', 'confirmed');
    expect(await statesOf(stack, shop)).toMatchObject({ 'A-2': 'needs_review', 'A-3': 'needs_review' });
  });

  test('after a search waits for the first result, also while another order is open', async () => {
    const { shop, page, decisions } = await openList(numbered('A-1'), numbered('A-2'), numbered('A-3'));
    await rowOf(page, 'A-3').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await paneOf(page, 'A-3').waitFor();
    const release = await holdRequests(page, /\/orders\?.*q=A-1/);
    await page.keyboard.press('/');
    await page.keyboard.type('A-1');
    await page.keyboard.press('Enter');
    await page.keyboard.press('c');
    await afterKeys(page);
    release();
    await paneOf(page, 'A-1').waitFor();
    expect(decisions).toEqual([]);
    await page.keyboard.press('c');
    await becomes(stack, shop, 'A-1', 'confirmed');
  });

  test('is not made of letters that are typed before the editor is open', async () => {
    const { page, decisions } = await openList(numbered('E-1', { total: 'abc' }), numbered('E-2', { total: 'abc' }));
    await rowOf(page, 'E-2').waitFor();
    const release = await holdRequests(page, /\/orders\/\d+$/);
    await page.keyboard.press('j');
    await currentRow(page, 'E-2').waitFor();
    await page.keyboard.press('e');
    await page.keyboard.type('curt');
    release();
    await page.locator('.field-editor input:focus').waitFor();
    expect(decisions).toEqual([]);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('on a phone waits until the order is shown', async () => {
    const shop = await open(numbered('P-1'));
    const page = await review(shop, PHONE);
    const decisions = watchDecisions(page);
    const address = await rowOf(page, 'P-1').getByRole('link').getAttribute('href');
    const release = await holdRequests(page, /order-pane.*js/);
    await page.goto(new URL(address ?? '', page.url()).href);
    await rowOf(page, 'P-1').waitFor({ state: 'attached' });
    await page.keyboard.press('c');
    await afterKeys(page);
    release();
    await paneOf(page, 'P-1').waitFor();
    expect(decisions).toEqual([]);
  });

  test('needs a current order: one that a search hid is current no more, also when it is back', async () => {
    const { page, decisions } = await openList(numbered('B-1'), numbered('B-2'));
    await rowOf(page, 'B-2').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('/');
    await page.keyboard.type('B-1');
    await rowOf(page, 'B-2').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.keyboard.press('c');
    await page.keyboard.press('r');
    await afterKeys(page);
    await page.getByRole('searchbox').fill('');
    await rowOf(page, 'B-2').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('c');
    await page.keyboard.press('r');
    await afterKeys(page);
    expect(decisions).toEqual([]);
  });

  test('after the list was loaded again is never about an order that it has not shown since', async () => {
    const shop = await open();
    await insertBulk(stack, shop, 30);
    const page = await review(shop);
    const decisions = watchDecisions(page);
    await rowOf(page, 'BULK-0030').waitFor();
    await page.keyboard.press('j');
    await page.locator('.order-scroll').evaluate((list) => list.scrollTo(0, 300));
    await insertBulk(stack, shop, 1200, 'BURST');
    await page.getByRole('button', { name: 'new orders' }).click();
    await rowOf(page, 'BURST-1200').waitFor();
    await page.keyboard.press('c');
    await page.keyboard.press('r');
    await afterKeys(page);
    expect(decisions).toEqual([]);
  });

  test('about a current order that is scrolled out of sight first shows it', async () => {
    const shop = await open();
    await insertBulk(stack, shop, 90);
    const page = await review(shop);
    const decisions = watchDecisions(page);
    await rowOf(page, 'BULK-0090').waitFor();
    await page.keyboard.press('j');
    await currentRow(page, 'BULK-0090').waitFor();
    await page.locator('.order-scroll').evaluate((list) => list.scrollTo(0, 2000));
    await rowOf(page, 'BULK-0040').waitFor();
    await page.keyboard.press('c');
    await until('the order is in sight', () => isInSight(page, 'BULK-0090'));
    expect(decisions).toEqual([]);
    await page.keyboard.press('c');
    await becomes(stack, shop, 'BULK-0090', 'confirmed');
  });

  test('is not taken by a held key, or by a second press before the next order was on the screen', async () => {
    const { shop, page, decisions } = await openList(numbered('D-1'), numbered('D-2'), numbered('D-3'));
    await rowOf(page, 'D-3').waitFor();
    await page.keyboard.press('j');
    await currentRow(page, 'D-3').waitFor();
    await page.evaluate(`(async () => {
        const press = (repeat) => document.body.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'c', code: 'KeyC', bubbles: true, cancelable: true, repeat }));
        press(true);
        await Promise.resolve();
        press(false);
        for (let turns = 0; turns < 20; turns++) await Promise.resolve();
        press(false);
      })()`);
    await currentRow(page, 'D-2').waitFor();
    await becomes(stack, shop, 'D-3', 'confirmed');
    await page.evaluate(`document.body.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'c', code: 'KeyC', bubbles: true, cancelable: true, repeat: true }))`);
    await afterKeys(page);
    expect(decisions).toHaveLength(1);
    await page.keyboard.press('c');
    await becomes(stack, shop, 'D-2', 'confirmed');
    expect(decisions).toHaveLength(2);
  });

  test('on a phone is about the open order, not about selected ones that it covers', async () => {
    const shop = await open(numbered('E-1'), numbered('E-2'));
    const page = await review(shop, PHONE);
    await rowOf(page, 'E-2').getByRole('checkbox').check();
    await rowOf(page, 'E-1').getByRole('link').click();
    await paneOf(page, 'E-1').waitFor();
    await page.keyboard.press('c');
    await becomes(stack, shop, 'E-1', 'confirmed');
    expect(await statesOf(stack, shop)).toMatchObject({ 'E-2': 'needs_review' });
  });

  test('names its order, and so does its undo; of several it says how many', async () => {
    const { shop, page } = await openList(
      numbered('N-1'),
      numbered('N-2'),
      numbered('N-3', { customer: { name: 'جاسم', phone: '055 765 4321' } }),
    );
    await rowOf(page, 'N-3').waitFor();
    // The page counts the time to undo too.
    await stopTime(page);
    await page.keyboard.press('j');
    await page.keyboard.press('c');
    await page.locator('.decision', { hasText: /^Confirmed .N-3. · .جاسم/ }).waitFor();
    await extendUndoOf(stack, shop);
    await page.keyboard.press('u');
    await page.locator('.decision', { hasText: /N-3. · .جاسم. needs review again/ }).waitFor();
    await rowOf(page, 'N-3').waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.keyboard.press('c');
    await page.locator('.decision', { hasText: '3 orders confirmed' }).waitFor();
    await extendUndoOf(stack, shop, 3);
    await page.keyboard.press('u');
    await page.locator('.decision', { hasText: '3 orders need review again' }).waitFor();
  });
});

describe('the selection', () => {
  test('ends when the filters change', async () => {
    const { page, decisions } = await openList(numbered('G-1'), numbered('G-2'));
    await rowOf(page, 'G-2').getByRole('checkbox').check();
    await page.getByRole('searchbox').fill('G-1');
    await rowOf(page, 'G-2').waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('');
    await rowOf(page, 'G-2').waitFor();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('c');
    await afterKeys(page);
    expect(decisions).toEqual([]);
  });
});

describe('Enter in the search', () => {
  test('opens the first result of what was typed, also if an earlier result arrives first', async () => {
    const { page } = await openList(numbered('S-12'), numbered('S-1'), numbered('S-3'));
    await rowOf(page, 'S-3').waitFor();
    const held: Route[] = [];
    await intercept(page, /orders\?.*q=S-12/, (route) => {
      held.push(route);
    });
    await page.getByRole('searchbox').fill('S-1');
    await rowOf(page, 'S-3').waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('S-12');
    await page.keyboard.press('Enter');
    await until('the search is sent', async () => held.length > 0);
    expect(await page.locator('.order-pane').count()).toBe(0);
    for (const route of held) await route.continue();
    await paneOf(page, 'S-12').waitFor();
    await page.locator('.order-number:focus', { hasText: 'S-12' }).waitFor();
  });
});

describe('the shortcuts', () => {
  /** Presses a key of a keyboard layout that Chromium cannot be switched to. */
  const press = (page: Page, key: string, code: string, shiftKey = false) =>
    page.evaluate(
      `(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown',
        ${JSON.stringify({ key, code, shiftKey, bubbles: true, cancelable: true })}))`,
    );

  test('work with an Arabic keyboard', async () => {
    const { shop, page } = await openList(numbered('H-1'), numbered('H-2'));
    await rowOf(page, 'H-2').waitFor();
    await press(page, 'ت', 'KeyJ');
    await currentRow(page, 'H-2').waitFor();
    await press(page, 'ؤ', 'KeyC');
    await becomes(stack, shop, 'H-2', 'confirmed');
    await currentRow(page, 'H-1').waitFor();
    await press(page, 'ع', 'KeyU');
    await becomes(stack, shop, 'H-2', 'needs_review');
    await press(page, '؟', 'Slash', true);
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await press(page, 'ظ', 'Slash');
    await page.locator('input[type=search]:focus').waitFor();
  });

  test('follow the letters of a Latin keyboard, wherever its keys are', async () => {
    const { shop, page, decisions } = await openList(numbered('I-1'), numbered('I-2'));
    await rowOf(page, 'I-2').waitFor();
    // On a Dvorak keyboard the key labelled C on others prints J, and the one labelled I prints C.
    await press(page, 'j', 'KeyC');
    await currentRow(page, 'I-2').waitFor();
    // The key labelled slash on others prints Z.
    await press(page, 'z', 'Slash');
    await afterKeys(page);
    expect(decisions).toEqual([]);
    await press(page, 'c', 'KeyI');
    await becomes(stack, shop, 'I-2', 'confirmed');
  });
});

describe('the way back', () => {
  test('from an order and from another page restores the scroll position and the loaded orders', async () => {
    const shop = await open();
    await insertBulk(stack, shop, 350);
    const page = await review(shop);
    await rowOf(page, 'BULK-0350').waitFor();
    const list = page.locator('.order-scroll');
    await until('the last order is loaded', async () => {
      await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      return (await rowOf(page, 'BULK-0001').count()) > 0;
    });
    await list.evaluate((element) => element.scrollTo(0, 8000));
    await rowOf(page, 'BULK-0160').waitFor();
    const before = await scrollOf(page);
    await rowOf(page, 'BULK-0160').getByRole('link').click();
    await paneOf(page, 'BULK-0160').waitFor();
    await page.goBack();
    await page.locator('.order-pane').waitFor({ state: 'detached' });
    await until('the list is where it was', async () => (await scrollOf(page)) === before);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.locator('.review').waitFor({ state: 'detached' });
    await page.goBack();
    await rowOf(page, 'BULK-0160').waitFor();
    expect(await scrollOf(page)).toBe(before);
  });
});

describe.each([1024, 1120, 1280])('at %d px', (width) => {
  test('each column is inside the window', async () => {
    const long = numbered('W-1', { area: 'Jumeirah Lakes Towers, Cluster X, near the old market', x: 1 });
    const page = await review(await open(long), { viewport: { width, height: 800 } });
    await rowOf(page, 'W-1').waitFor();
    const outside = await page.locator('.list-head > *, .order-row > *').evaluateAll(
      (cells, right) =>
        cells
          .map((cell) => ({ name: cell.className, box: cell.getBoundingClientRect() }))
          .filter(({ box }) => box.width > 0 && (box.right > right || box.left < 0))
          .map(({ name }) => name),
      width,
    );
    expect(outside).toEqual([]);
    expect(await rowOf(page, 'W-1').locator('.order-age').boundingBox()).not.toBeNull();
  });
});
