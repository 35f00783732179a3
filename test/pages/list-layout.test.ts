import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import { insertBulk, numbered, type ReviewedShop, rowOf, useReviewList } from '../harness/review-page.ts';

const { stack, open, review: reviewShop } = useReviewList();
let shop: ReviewedShop;

const LONG = numbered('W-1', {
  customer: { name: 'عبدالله بن محمد بن راشد الكعبي', phone: '050 123 4567' },
  area: 'Jumeirah Lakes Towers, Cluster X, near the old market',
  total: '1234567.50',
  x: 1,
});
const BLOCKED = numbered('W-2', { customer: { name: 'Fatima' }, emirate: 'Atlantis' });

beforeAll(async () => {
  shop = await open(LONG, BLOCKED);
});

const review = (options = {}) => reviewShop(shop, options);
const heightOf = async (page: Page, selector: string) => (await page.locator(selector).boundingBox())?.height ?? 0;
const overflowOf = (page: Page) => page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth);

/** The cells that are not inside the window, or that cover another one of their row. */
const misplacedCells = (page: Page) =>
  page.locator('.order-row').evaluateAll(
    (rows, right) =>
      rows.flatMap((row) => {
        const cells = [...row.children]
          .map((cell) => ({ name: cell.className, box: cell.getBoundingClientRect() }))
          .filter(({ box }) => box.width > 0);
        const outside = cells.filter(({ box }) => box.left < 0 || box.right > right + 0.5);
        const covering = cells.filter(({ box }, index) =>
          cells
            .slice(0, index)
            .some(
              (other) =>
                box.left < other.box.right - 1 &&
                other.box.left < box.right - 1 &&
                box.top < other.box.bottom - 1 &&
                other.box.top < box.bottom - 1,
            ),
        );
        return [...outside, ...covering].map(({ name }) => name);
      }),
    page.viewportSize()?.width ?? 0,
  );

describeWith('chromium')('the list', () => {
  test.each(['en-GB', 'ar'])('no cell covers another or leaves the window at any width, in %s', async (locale) => {
    const page = await review({ locale });
    await rowOf(page, 'W-1').waitFor();
    for (const width of [320, 375, 800, 1024, 1120, 1200, 1280, 1600]) {
      await page.setViewportSize({ width, height: 700 });
      const row = rowOf(page, 'W-1');
      expect({ width, misplaced: await misplacedCells(page), overflow: await overflowOf(page) }).toEqual({
        width,
        misplaced: [],
        overflow: 0,
      });
      expect(await row.locator('.order-age').isVisible()).toBe(true);
      expect(await row.locator('.order-total').textContent()).toContain('1,234,567.50');
      await expectAccessible(page);
    }
  });

  test('at 800 px the toolbar leaves the window to the orders, also with filters', async () => {
    const page = await review({ viewport: { width: 800, height: 700 } });
    await rowOf(page, 'W-2').waitFor();
    expect(await heightOf(page, '.review-top')).toBeLessThan(110);
    await page.goto(`${page.url()}?severity=blocks&emirate=none&channel=rest`);
    await rowOf(page, 'W-2').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).waitFor();
    expect(await heightOf(page, '.review-top')).toBeLessThan(150);
  });

  test('at 1024 px the toolbar takes one line', async () => {
    const page = await review({ viewport: { width: 1024, height: 700 } });
    await rowOf(page, 'W-2').waitFor();
    expect(await heightOf(page, '.review-top')).toBeLessThan(60);
  });

  test('the compact density shows more orders, and the list stays where it was', async () => {
    const many = await open();
    await insertBulk(stack, many, 200);
    const page = await reviewShop(many);
    await rowOf(page, 'BULK-0200').waitFor();
    const comfortable = await heightOf(page, '.order-row >> nth=0');
    await page.locator('.order-scroll').evaluate((list) => list.scrollTo(0, 3000));
    await rowOf(page, 'BULK-0130').waitFor();
    await page.getByRole('button', { name: 'Menu: Test Person' }).click();
    await page.getByRole('radio', { name: 'Compact' }).check();
    await page.keyboard.press('Escape');
    expect(await heightOf(page, '.order-row >> nth=0')).toBeLessThan(comfortable);
    await rowOf(page, 'BULK-0130').waitFor();
    await expectAccessible(page);
  });
});
