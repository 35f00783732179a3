import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, intercept, openPage, stopTime } from '../harness/browser.ts';
import { createPerson, signIn } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { extendUndoOf, factOf, numbered, type ReviewedShop, rowOf, useReviewList } from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, knex, api, portal, open, review, openList } = useReviewList();

const PHONE = { viewport: { width: 390, height: 844 } };

const openOrder = (page: Page, number: string) => rowOf(page, number).getByRole('link').click();
const paneOf = (page: Page) => page.locator('.order-pane');

function stateOf(orderId: number): Promise<string> {
  return knex('orders')
    .where({ order_id: orderId })
    .first('review_state')
    .then(({ review_state }) => review_state);
}

const becomes = (orderId: number, state: string) =>
  until(`order ${orderId} is ${state}`, async () => (await stateOf(orderId)) === state);

describe('a dispatcher', () => {
  test('signs in, corrects an order and confirms it, by keyboard alone', async () => {
    const shop = await open(numbered('K-1', { emirate: 'Atlantis' }), numbered('K-2'));
    const page = await openPage();
    await page.goto(portal.url);
    await page.locator('form').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type(shop.person.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(shop.person.password);
    await page.keyboard.press('Enter');
    await rowOf(page, 'K-1').waitFor();

    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await paneOf(page).getByText('Not one of the seven emirates').waitFor();
    await page.keyboard.press('e');
    await page.locator('.field-editor select:focus').waitFor();
    await page.keyboard.type('Shar');
    await page.keyboard.press('Enter');
    await factOf(page, 'Emirate').getByText('AE-SH').waitFor();
    expect(await paneOf(page).getByText('Not one of the seven emirates').count()).toBe(0);
    await paneOf(page).getByText('Atlantis').first().waitFor();
    await page.keyboard.press('c');
    await rowOf(page, 'K-1').waitFor({ state: 'detached' });
    // The next order is open and has the focus.
    await paneOf(page).getByRole('heading', { name: 'K-2' }).waitFor();
    await page.locator('.order-number:focus', { hasText: 'K-2' }).waitFor();
    const [order] = await knex('orders').where({ account_id: shop.account.id, source_order_id: 'K-1' });
    await becomes(order.order_id, 'confirmed');
    expect(order.emirate_code).toBe('AE-SH');

    // A key counts only once the whole order was painted.
    await page.locator('.order-pane[aria-busy="false"]').waitFor();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    // The page counts the time to undo too.
    await stopTime(page);
    await page.keyboard.press('c');
    await page.getByText('All done').waitFor();
    await extendUndoOf(stack, shop, 2);
    await page.keyboard.press('u');
    await rowOf(page, 'K-2').waitFor();
  });

  test('sees a new order without a reload, and after scrolling only on request', async () => {
    const shop = await open();
    await insertOrders(shop, 100);
    const page = await review(shop);
    await rowOf(page, 'BULK-0100').waitFor();
    await page.locator('html').evaluate((html) => html.setAttribute('data-kept', ''));
    await api.process(shop.account, numbered('NEW-1'));
    await rowOf(page, 'NEW-1').waitFor();
    await page.locator('[role=status]', { hasText: '1 new order' }).waitFor({ state: 'attached' });

    await page.locator('.order-scroll').evaluate((list) => list.scrollTo(0, 2000));
    await rowOf(page, 'BULK-0050').waitFor();
    const before = await rowOf(page, 'BULK-0050').boundingBox();
    await api.process(shop.account, numbered('NEW-2'));
    await page.getByRole('button', { name: '1 new order' }).waitFor();
    expect(await rowOf(page, 'BULK-0050').boundingBox()).toEqual(before);
    await page.getByRole('button', { name: '1 new order' }).click();
    await rowOf(page, 'NEW-2').waitFor();
    expect(await page.locator('.order-row').first().textContent()).toContain('NEW-2');
    await page.locator('[data-count]', { hasText: '102' }).waitFor();
    expect(await page.locator('html[data-kept]').count()).toBe(1);
  });

  test('reads each warning at its field and in the payload, which is shown as received', async () => {
    const raw = `{"source_order_id" : "W-1","total":  12345678901234567890.10, "emirate":"Atlantis",
      "customer":{"name":"محمد","phone":"12"},"x":{"a":1}}`;
    const page = await review(await open(raw));
    await openOrder(page, 'W-1');
    const note = factOf(page, 'Emirate').locator('.warning-note');
    const focused = page.locator(':focus');
    const mark = page.locator('.raw-mark', { hasText: '"emirate": "Atlantis"' });
    await note.hover();
    await page.locator('.raw-mark.is-pointed', { hasText: 'Atlantis' }).waitFor();
    await mark.click();
    expect(await focused.textContent()).toContain('Not one of the seven emirates');
    await note.press('Enter');
    expect(await focused.textContent()).toBe('"emirate": "Atlantis"');
    await factOf(page, 'Phone').locator('.warning-note').waitFor();
    await factOf(page, 'Total').locator('.warning-note').waitFor();
    expect(await page.locator('.raw-mark').allTextContents()).toContain('"total": 12345678901234567890.10');
    await page.locator('.unknown-fields li', { hasText: 'a: 1' }).getByRole('button', { name: 'x' }).waitFor();
    await page.getByRole('radio', { name: 'As received' }).check();
    expect(await page.locator('.raw pre').textContent()).toBe(raw);
    await page.keyboard.press('r');
    await page.getByRole('dialog').waitFor();
  });

  test('is told if somebody else was faster, and sees the current state of the order', async () => {
    const { shop, page } = await openList(numbered('F-1'), numbered('F-2'));
    await openOrder(page, 'F-1');
    await page.getByRole('button', { name: 'Add Area' }).click();
    await page.locator('.field-editor input').fill('Marina');
    const other = await signIn(portal, await createPerson(stack, shop.account.id));
    const [{ order_id: id }] = await knex('orders').where({ source_order_id: 'F-1' });
    // A poll that reports the change would close the field before Enter.
    const sent = Promise.withResolvers<void>();
    await intercept(page, /\/orders\/(updates\?.*|\d+)$/, async (route) => {
      if (route.request().method() === 'GET') await sent.promise;
      await route.continue();
    });
    await other.post(`/accounts/${shop.account.id}/orders/review`, { order_ids: [id], to: 'confirmed' });
    await page.keyboard.press('Enter');
    sent.resolve();
    await page.getByText('Somebody else changed this meanwhile').waitFor();
    await paneOf(page).getByText('Confirmed by').waitFor();
    expect(await paneOf(page).getByRole('button', { name: 'Confirm' }).count()).toBe(0);
  });

  test('edits items and empties fields, discards edits with Escape, and sees the history', async () => {
    const page = await review(await open(numbered('E-1', { items: [{ name: 'Karak', quantity: 'a few' }] })));
    await openOrder(page, 'E-1');
    await page.getByRole('button', { name: 'Edit: Karak' }).click();
    await page.getByLabel('Qty').fill('3');
    await page.keyboard.press('Enter');
    await page.locator('.item-quantity', { hasText: '3' }).waitFor();
    expect(await page.locator('.items .warning-note').count()).toBe(0);
    await page.getByRole('button', { name: 'Edit: Address' }).click();
    await page.locator('.field-editor textarea').fill('');
    await page.keyboard.press('Enter');
    await factOf(page, 'Address').getByText('missing').waitFor();
    await page.locator('.edit-button:focus').waitFor();
    await page.getByRole('button', { name: 'Edit: Customer', exact: true }).click();
    await page.locator('.field-editor input').fill('Somebody');
    await page.keyboard.press('Escape');
    await factOf(page, 'Customer').getByText('Fatima').waitFor();
    await page.locator('.history').getByText('Villa 12, Street 4').waitFor();
    expect(await page.locator('.history ins').allTextContents()).toEqual(['–', '3']);
  });

  test('cannot confirm an order that is being edited', async () => {
    const { page } = await openList(numbered('D-1'));
    await openOrder(page, 'D-1');
    await page.getByRole('button', { name: 'Edit: Address' }).click();
    await page.locator('.field-editor textarea').fill('Tower 7');
    await page.getByRole('button', { name: 'Confirm order D-1' }).click();
    await page.getByText('Save or discard the change of this order first.').waitFor();
    await page.locator('.field-editor textarea').press('Enter');
    // Typed text also counts as text of its editor.
    await page.locator('.field-editor').waitFor({ state: 'detached' });
    await factOf(page, 'Address').getByText('Tower 7').waitFor();
    await page.getByRole('button', { name: 'Confirm order D-1' }).click();
    await page
      .locator('.decision', { hasText: /^Confirmed / })
      .getByRole('button', { name: 'Undo' })
      .waitFor();
  });
});

describe('several orders', () => {
  test('are confirmed at once and undone with one click', async () => {
    const { shop, page } = await openList(...['B-1', 'B-2', 'B-3', 'B-4'].map((number) => numbered(number)));
    await rowOf(page, 'B-4').getByRole('checkbox').click();
    await rowOf(page, 'B-2')
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await page.getByRole('toolbar').getByText('3 selected').waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Confirm' }).click();
    // It stays while the pointer is on it.
    await page.locator('.decision', { hasText: '3 orders confirmed' }).hover();
    expect(await page.locator('.order-row').count()).toBe(1);
    await extendUndoOf(stack, shop, 3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await rowOf(page, 'B-4').waitFor();
    expect(await page.locator('.order-row').count()).toBe(4);
    await until('they need review again', async () => {
      const states = await knex('orders').where({ account_id: shop.account.id }).pluck('review_state');
      return states.every((state) => state === 'needs_review');
    });
  });

  test('are rejected with a reason, and one of them is reopened', async () => {
    const { page } = await openList(numbered('R-1'), numbered('R-2'));
    await rowOf(page, 'R-1').waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.keyboard.press('r');
    await page.getByRole('dialog').getByText('Reject 2 orders').waitFor();
    await page.locator('[type=radio]:focus').waitFor();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByText('All done').waitFor();
    await page.getByRole('link', { name: 'Rejected' }).click();
    await openOrder(page, 'R-2');
    await paneOf(page).getByText('Same as another order').first().waitFor();
    await paneOf(page).getByRole('button', { name: 'Reopen' }).click();
    await rowOf(page, 'R-2').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Needs review', exact: false }).last().click();
    await rowOf(page, 'R-2').waitFor();
    expect(await rowOf(page, 'R-1').count()).toBe(0);
  });

  test('return to the list if the service is unreachable', async () => {
    const { page } = await openList(numbered('O-1'), numbered('O-2'));
    await intercept(page, '**/orders/review', (route) => route.abort());
    await rowOf(page, 'O-2').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('c');
    await page.getByText('The portal cannot be reached').first().waitFor();
    await rowOf(page, 'O-2').waitFor();
  });
});

describe('the list', () => {
  test('loads with less than 200 kB of scripts and styles, and reports an unknown order', async () => {
    const page = await review(await open(numbered('L-1')), { path: '/999999999' });
    await rowOf(page, 'L-1').waitFor();
    await page.getByText('There is no such order').waitFor();
    const loaded = await page.evaluate<number>(
      `performance.getEntriesByType('resource').filter(({ name }) => /\\/assets\\/.*\\.(js|css)$/.test(name))
            .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    );
    expect(loaded).toBeGreaterThan(50_000);
    expect(loaded).toBeLessThan(200_000);
  });

  test('keeps its filters and the open order in its URL, also with back and forward', async () => {
    const { page } = await openList(
      numbered('Q-1'),
      numbered('Q-2', { emirate: 'Sharjah' }),
      numbered('Q-3', { x: 1 }),
    );
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('radio', { name: 'Sharjah' }).check();
    await rowOf(page, 'Q-1').waitFor({ state: 'detached' });
    await rowOf(page, 'Q-2').waitFor();
    expect(new URL(page.url()).search).toBe('?emirate=AE-SH');
    await page.keyboard.press('Escape');
    await openOrder(page, 'Q-2');
    await paneOf(page).waitFor();
    const shared = page.url();
    await page.goBack();
    await page.goBack();
    await rowOf(page, 'Q-1').waitFor();
    await page.goto(shared);
    await paneOf(page).getByRole('heading', { name: 'Q-2' }).waitFor();
    await rowOf(page, 'Q-2').waitFor();
    expect(await page.locator('.order-row').count()).toBe(1);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('radio', { name: 'To check' }).check();
    await rowOf(page, 'Q-2').waitFor({ state: 'detached' });
    await rowOf(page, 'Q-3').waitFor();
  });

  test('is searched while typing, and single-key shortcuts can be switched off', async () => {
    const { page } = await openList(
      numbered('S-1'),
      numbered('S-2', { customer: { name: 'جاسم', phone: '055 765 4321' } }),
    );
    await rowOf(page, 'S-1').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('0557654321');
    await rowOf(page, 'S-1').waitFor({ state: 'detached' });
    await rowOf(page, 'S-2').waitFor();
    await page.getByRole('searchbox').fill('nobody of this name');
    await page.getByText('No order here matches').waitFor();
    await page.getByRole('searchbox').fill('');
    await rowOf(page, 'S-1').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByLabel('Single-key shortcuts').uncheck();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    // The dialog returns the focus after a while. If the key had worked, the search would keep the focus.
    await page.locator('input:focus').waitFor({ state: 'detached' });
    expect(await page.locator('input:focus').count()).toBe(0);
    await page.keyboard.press('ArrowDown');
    await page.locator('.order-number:focus').waitFor();
  });

  test('of 3,000 orders renders only those in sight, down to the last', async () => {
    const shop = await open();
    await insertOrders(shop, 3000);
    const page = await review(shop);
    await rowOf(page, 'BULK-3000').waitFor();
    const list = page.locator('.order-scroll');
    await until('the last order is reached', async () => {
      await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      expect(await page.locator('.order-row').count()).toBeLessThan(60);
      return (await rowOf(page, 'BULK-0001').count()) > 0;
    });
    await page.keyboard.press('j');
    await page.locator('.order-number:focus', { hasText: 'BULK-3000' }).waitFor();
  });
});

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  test('list, order, editor and dialogs meet WCAG 2.2 AA', async () => {
    const shop = await open(numbered('X-1', { emirate: 'Atlantis', x: 1 }), numbered('X-2', { total: 'much' }));
    const page = await review(shop, { colorScheme });
    await rowOf(page, 'X-1').waitFor();
    await page.getByRole('checkbox', { name: 'Select order X-2' }).check();
    await expectAccessible(page);
    await openOrder(page, 'X-1');
    await page.locator('.raw-mark').first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press('e');
    await page.locator('.field-editor').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('r');
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page);
  });
});

describe.each(['en-GB', 'ar'])('on a phone, in %s', (locale) => {
  test('everything fits the window, an order takes the whole page, and there is a way back', async () => {
    const long = 'برج السلام، الطابق الثاني عشر، شقة 1204، شارع الشيخ زايد، '.repeat(4);
    const shop = await open(numbered('P-1', { address: long, emirate: 'Atlantis', [`x${'y'.repeat(200)}`]: 1 }));
    const page = await review(shop, { ...PHONE, locale });
    await rowOf(page, 'P-1').waitFor();
    expect(await overflowOf(page.locator('html'))).toBe(0);
    await expectAccessible(page);
    await openOrder(page, 'P-1');
    await page.locator('.raw-mark').first().waitFor();
    expect(await overflowOf(page.locator('html'))).toBe(0);
    expect(await overflowOf(page.locator('.order-content'))).toBe(0);
    await expectAccessible(page);
    await page.locator('.order-head .icon-button').first().click();
    await paneOf(page).waitFor({ state: 'detached' });
    await rowOf(page, 'P-1').waitFor();
    expect(await page.locator('html').getAttribute('dir')).toBe(locale === 'ar' ? 'rtl' : 'ltr');
  });
});

const overflowOf = (place: Locator) => place.evaluate((element) => element.scrollWidth - element.clientWidth);

/** Inserts many orders with the columns that the worker writes. */
async function insertOrders({ account }: ReviewedShop, count: number): Promise<void> {
  await knex.raw(
    `insert into orders (account_id, source_order_id, order_number, channel, receipt_id, customer_name, items, total,
                         currency, warnings, severity, received_at, written_at)
     select ?, 'bulk-' || n, 'BULK-' || lpad(n::text, 4, '0'), 'rest', gen_random_uuid(), 'Fatima', '[]', n, 'AED', '[]', 'blocks',
            now() - interval '1 hour', now() - interval '1 hour'
     from generate_series(1, ?) as n order by n`,
    [account.id, count],
  );
}
