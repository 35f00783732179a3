import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, openPage, openPageAs, visitAs } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import { numbered, paneOf, type ReviewedShop, rowOf, useReviewList } from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, portal, open, review } = useReviewList();

const AGES = { 'A-10': 10, 'A-40': 40, 'A-90': 90 };

/** A shop with orders that were received 10, 40 and 90 minutes ago, and one that was confirmed after 90 minutes. */
async function openAged(): Promise<ReviewedShop> {
  const shop = await open(...Object.keys(AGES).map((number) => numbered(number)), numbered('A-OLD'));
  const { knex } = stack.database;
  const ofShop = () => knex('orders').where({ account_id: shop.account.id });
  for (const [order_number, minutes] of Object.entries({ ...AGES, 'A-OLD': 90 }))
    await ofShop()
      .where({ order_number })
      .update({ received_at: knex.raw('now() - make_interval(mins => ?)', [minutes]) });
  await ofShop()
    .where({ order_number: 'A-OLD' })
    .update({ review_state: 'confirmed', reviewed_at: knex.fn.now(), reviewed_by: 'someone@example.test' });
  return shop;
}

const setTarget = ({ account }: ReviewedShop, minutes: number) =>
  stack.database.knex('accounts').where({ account_id: account.id }).update({ review_target_minutes: minutes });

/** By order: the kind of the mark of its age, and what it says in words; null without a mark. */
type Marks = Record<string, [string, string] | null>;

async function marksOf(page: Page): Promise<Marks> {
  const rows = await page.locator('.order-row').evaluateAll((all) =>
    all.map((row) => {
      const mark = row.querySelector('.order-age .badge');
      const words = mark?.querySelector('.visually-hidden')?.textContent ?? '';
      const hasIcon = mark?.querySelector('svg[aria-hidden]') ? 'with icon' : 'without icon';
      const number = row.querySelector('.order-number')?.textContent ?? '';
      return [number, mark && [`${mark.className} ${hasIcon}`, words]] as const;
    }),
  );
  return Object.fromEntries(rows) as Marks;
}

const HALF = 'badge badge-warn with icon';
const OVER = 'badge badge-bad with icon';
const HALF_WORDS = 'More than half of the review target of 1 hour has passed';
const OVER_WORDS = 'Over the review target of 1 hour';

/** Waits until the marks are these; at the end of the wait, what differs is reported. */
async function marks(page: Page, expected: Marks): Promise<void> {
  await until('the marks', async () => isDeepStrictEqual(await marksOf(page), expected)).catch(() => {});
  expect(await marksOf(page)).toEqual(expected);
}

describe('the review target', () => {
  test('is chosen under Settings; the list then marks what is half and what is all of it old, and nothing that is decided', async () => {
    const shop = await openAged();
    const page = await openPageAs(portal, shop.person, `/accounts/${shop.account.id}/orders`);
    await rowOf(page, 'A-10').waitFor();
    await marks(page, { 'A-10': null, 'A-40': null, 'A-90': null });

    await page.getByRole('link', { name: 'Settings' }).click();
    const card = page.getByRole('group', { name: 'Review target' });
    await card.getByRole('radio', { name: 'No target', checked: true }).waitFor();
    expect(await card.locator('label').allTextContents()).toEqual([
      'No target',
      '15 minutes',
      '30 minutes',
      '1 hour',
      '2 hours',
      '4 hours',
      '1 day',
    ]);
    await card.getByRole('radio', { name: '1 hour' }).check();
    await page.getByText('Saved.', { exact: true }).waitFor();
    await card.getByRole('radio', { name: '1 hour', checked: true }).waitFor();
    await expectAccessible(page);
    await page.goto(`${portal.url}/accounts/${shop.account.id}/log`);
    await page.getByText('Changed the review target').waitFor();
    await page.getByText('Review target: 1 hour').waitFor();

    // In a narrow pane, the buttons take the place of the age.
    await page.setViewportSize({ width: 1600, height: 800 });
    await page.goto(`${portal.url}/accounts/${shop.account.id}/orders`);
    await marks(page, { 'A-10': null, 'A-40': [HALF, HALF_WORDS], 'A-90': [OVER, OVER_WORDS] });
    await rowOf(page, 'A-90').getByRole('link').click();
    await paneOf(page, 'A-90').locator('.order-origin').getByText(OVER_WORDS).waitFor();
    await page.goto(`${portal.url}/accounts/${shop.account.id}/orders?state=confirmed`);
    await marks(page, { 'A-OLD': null });
  });

  test('marks further orders as time passes', async () => {
    const shop = await openAged();
    await setTarget(shop, 60);
    const page = await openPage();
    // Timers run as always; only what the page takes for the time is moved.
    await page.addInitScript('const now = Date.now; window.later = 0; Date.now = () => now() + window.later;');
    await visitAs(page, portal, shop.person, `/accounts/${shop.account.id}/orders`);
    await marks(page, { 'A-10': null, 'A-40': [HALF, HALF_WORDS], 'A-90': [OVER, OVER_WORDS] });
    await page.evaluate(`window.later = ${30 * 60_000}`);
    await marks(page, { 'A-10': [HALF, HALF_WORDS], 'A-40': [OVER, OVER_WORDS], 'A-90': [OVER, OVER_WORDS] });
  });

  test('that is not among the options is shown with them', async () => {
    const shop = await open();
    await setTarget(shop, 45);
    const page = await openPageAs(portal, shop.person, `/accounts/${shop.account.id}/settings`);
    const card = page.getByRole('group', { name: 'Review target' });
    await card.getByRole('radio', { name: '45 minutes', checked: true }).waitFor();
  });

  test.each([
    ['light', 'en-GB'],
    ['dark', 'ar'],
  ] as const)('in the %s theme, in %s, the marks meet WCAG 2.2 AA and fit their cells', async (colorScheme, locale) => {
    const shop = await openAged();
    await setTarget(shop, 60);
    const page = await review(shop, { colorScheme, locale });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await rowOf(page, 'A-90').locator('.order-age .badge-bad').waitFor();
      await rowOf(page, 'A-40').locator('.order-age .badge-warn').waitFor();
      const overflows = await page
        .locator('.order-age')
        .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
      expect({ width, overflows }).toEqual({ width, overflows: 0 });
      await expectAccessible(page);
    }
    if (locale === 'ar') expect((await marksOf(page))['A-90']?.[1]).toBe('تجاوز المهلة المستهدفة للمراجعة (ساعة)');
  });
});
