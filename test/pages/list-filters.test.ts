import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import { becomes, currentRow, numbered, rowOf, statesOf, useReviewList } from '../harness/review-page.ts';
import { createTestSource, deliver, shopifyHeaders } from '../harness/sources.ts';

const describe = describeWith('chromium');

const { stack, api, open, review, openList } = useReviewList();

async function listed(page: Page): Promise<string[]> {
  return page.locator('.order-row .order-number').allTextContents();
}

const shows = (page: Page, ...numbers: string[]) =>
  until(`the list is ${numbers}`, async () => (await listed(page)).join() === numbers.join());

describe('the filter by readiness', () => {
  test('calls ready only what can be delivered and has no warning', async () => {
    const { page } = await openList(
      numbered('R-READY'),
      // Neither has a warning: nothing was sent that could not be read.
      { source_order_id: 'R-EMPTY', items: [{ name: 'Karak', quantity: 1 }], total: '5' },
      numbered('R-CHECK', { discount: 5 }),
      numbered('R-CORRECTED', { items: [{ name: 'Karak', quantity: '2' }] }),
    );
    await shows(page, 'R-CORRECTED', 'R-CHECK', 'R-EMPTY', 'R-READY');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('radio', { name: 'Ready' }).check();
    await shows(page, 'R-READY');
    await expectAccessible(page);
    await page.getByRole('radio', { name: 'Cannot be delivered' }).check();
    await shows(page, 'R-EMPTY');
    await page.getByRole('radio', { name: 'To check' }).check();
    await shows(page, 'R-CHECK');
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).search).toBe('?severity=check');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Remove the filter Readiness: To check' }).click();
    await shows(page, 'R-CORRECTED', 'R-CHECK', 'R-EMPTY', 'R-READY');
  });
});

describe('the filter by shop', () => {
  test('lists the orders of one source under its name, also those that are found by an item', async () => {
    const shop = await open(numbered('P-1'), numbered('P-2'));
    const source = await createTestSource(stack, shop.account, 'shopify');
    const body = JSON.stringify({ id: 77, name: '#1077', line_items: [{ name: 'Brass lamp', quantity: 1 }] });
    const { body: accepted } = await deliver(api, source, body, shopifyHeaders(body));
    await api.final(shop.account, accepted.receipt_id);
    const page = await review(shop);
    await shows(page, '#1077', 'P-2', 'P-1');
    await rowOf(page, '#1077').getByText('my shopify').waitFor();
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('group', { name: 'Shop' }).getByRole('radio', { name: 'my shopify' }).check();
    await shows(page, '#1077');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).search).toBe(`?source=${source.source_number}`);
    await page.getByRole('button', { name: 'Remove the filter Shop: my shopify' }).click();
    await shows(page, '#1077', 'P-2', 'P-1');
    await page.getByRole('searchbox').fill('lamp');
    await shows(page, '#1077');
  });
});

describe('the order of the list', () => {
  test('is chosen, stays in the URL, and is that of the keys', async () => {
    const { shop, page } = await openList(
      numbered('S-1', { total: '20', emirate: 'Sharjah' }),
      numbered('S-2', { total: '900', emirate: 'Dubai' }),
      numbered('S-3', { total: '100', emirate: 'Abu Dhabi', discount: 5 }),
      numbered('S-4', { total: '', customer: {} }),
    );
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'Sort order' }).click();
      await page.getByRole('button', { name, exact: true }).click();
    };
    await shows(page, 'S-4', 'S-3', 'S-2', 'S-1');
    await choose('Highest total first');
    await shows(page, 'S-2', 'S-3', 'S-1', 'S-4');
    await choose('By emirate');
    await until('by emirate', async () => (await listed(page))[0] === 'S-3');
    await choose('Issues first');
    await until('by severity', async () => (await listed(page)).slice(0, 2).join() === 'S-4,S-3');
    await choose('Oldest first');
    await shows(page, 'S-1', 'S-2', 'S-3', 'S-4');
    expect(new URL(page.url()).search).toBe('?sort=oldest');
    await page.keyboard.press('j');
    await currentRow(page, 'S-1').waitFor();
    await page.keyboard.press('c');
    await becomes(stack, shop, 'S-1', 'confirmed');
    await currentRow(page, 'S-2').waitFor();
  });
});

describe('likely duplicates', () => {
  test('are marked, and can be listed alone', async () => {
    const { page } = await openList(
      numbered('T-1'),
      numbered('T-2'),
      numbered('T-3', { customer: { name: 'Jassim', phone: '055 765 4321' } }),
    );
    await rowOf(page, 'T-1').getByText('Likely duplicate').waitFor({ state: 'attached' });
    await rowOf(page, 'T-2').getByText('Likely duplicate').waitFor({ state: 'attached' });
    expect(await rowOf(page, 'T-3').getByText('Likely duplicate').count()).toBe(0);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('radio', { name: 'Only likely duplicates' }).check();
    await shows(page, 'T-2', 'T-1');
  });
});

describe('a saved view', () => {
  test('restores filters, search and order, is kept for the next visit, and can be deleted', async () => {
    const shop = await open(numbered('V-1', { emirate: 'Sharjah' }), numbered('V-2'), numbered('V-3'));
    const menu = (page: Page) => page.getByRole('button', { name: 'Saved views' }).click();
    const page = await review(shop, { path: '?emirate=AE-DU&sort=oldest' });
    await shows(page, 'V-2', 'V-3');
    await menu(page);
    await page.getByPlaceholder('Name').fill('Dubai first');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Dubai first', exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByPlaceholder('Name').fill('Dubai first');
    await page.keyboard.press('Enter');
    await page.getByText('There is already a view with this name.').waitFor();
    await expectAccessible(page);
    const other = await review(shop);
    await shows(other, 'V-3', 'V-2', 'V-1');
    await menu(other);
    await other.getByRole('button', { name: 'Dubai first', exact: true }).click();
    await shows(other, 'V-2', 'V-3');
    expect(new URL(other.url()).search).toBe('?emirate=AE-DU&sort=oldest');
    await menu(other);
    await other.getByRole('button', { name: 'Delete the view Dubai first' }).click();
    await other.getByText('Save filters that you use often').waitFor();
  });
});

describe('a search', () => {
  test('is one of all states: the tabs count, the list says where else, and the palette finds the same', async () => {
    const ids = Array.from({ length: 6 }, (_, number) => `N-${number}`);
    const noura = ids.map((id) => numbered(id, { customer: { name: 'Noura', phone: '0501234567' } }));
    const shop = await open(numbered('W-1', { customer: { name: 'Omar', phone: '0557654321' } }), ...noura);
    await stack.database
      .knex('orders')
      .where({ account_id: shop.account.id })
      .whereIn('source_order_id', ids)
      .update({ review_state: 'confirmed', reviewed_at: new Date(0), reviewed_by: 'someone@example.com' });
    const page = await review(shop);
    await page.getByRole('searchbox').fill('noura');
    const tab = (state: string) => page.locator(`.tabs [data-count=${state}]`);
    await tab('confirmed').getByText('6', { exact: true }).waitFor();
    expect(await tab('needs_review').textContent()).toBe('0');
    await page.getByText('No order here matches these filters.').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: '6 in Confirmed' }).click();
    await shows(page, 'N-5', 'N-4', 'N-3', 'N-2', 'N-1', 'N-0');
    await page.keyboard.press('Control+k');
    await page.locator('dialog [role=combobox]:focus').waitFor();
    await page.keyboard.type('omar');
    await page.getByRole('option', { name: 'W-1' }).waitFor();
    for (let letter = 0; letter < 4; letter += 1) await page.keyboard.press('Backspace');
    await page.keyboard.type('noura');
    await page.getByRole('option', { name: 'All 6 in confirmed' }).click();
    await page.waitForURL('**/orders?state=confirmed&q=noura');
    await shows(page, 'N-5', 'N-4', 'N-3', 'N-2', 'N-1', 'N-0');
    await page.getByRole('searchbox').fill('');
    await tab('needs_review').getByText('1', { exact: true }).waitFor();
    expect(await tab('confirmed').count()).toBe(0);
  });
});

describe('an empty list', () => {
  test('of a new account leads to each platform, and to the first order in three clicks', async () => {
    const { shop, page } = await openList();
    await page.getByRole('link', { name: 'Salla', exact: true }).click();
    expect(await page.getByRole('radio', { name: 'Salla' }).isChecked()).toBe(true);
    await page.getByRole('radio', { name: 'Zid' }).check();
    expect(await page.getByRole('radio', { name: 'Salla' }).isChecked()).toBe(false);
    await page.goBack();
    await page.getByRole('region', { name: 'Invite your team' }).getByRole('link', { name: 'People' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Send a test order' }).dblclick();
    await page.locator('.order-row').getByRole('link').click();
    await page.getByRole('button', { name: /^Confirm order/ }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect(Object.values(await statesOf(stack, shop))).toEqual(['confirmed']);
  });

  test('that is filtered leads to all orders', async () => {
    const { page } = await openList();
    await page.getByText('No orders yet').waitFor();
    await page.getByRole('searchbox').fill('nobody');
    await page.getByText('No order here matches these filters.').waitFor();
    await expectAccessible(page);
    await page.locator('.empty-state').getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('No orders yet').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
  });

  test('whose last order was decided says that all is done', async () => {
    const { page } = await openList(numbered('U-1'));
    await rowOf(page, 'U-1').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('c');
    await page.getByText('All done').waitFor();
    await expectAccessible(page);
  });
});
