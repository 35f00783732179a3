import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, holdRequests, intercept, stopTime } from '../harness/browser.ts';
import { below, createPerson, signIn } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import {
  afterKeys,
  becomes,
  currentRow,
  extendUndoOf,
  numbered,
  paneOf,
  type ReviewedShop,
  rowOf,
  statesOf,
  useReviewList,
  watchDecisions,
} from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, api, portal, open, review, openList } = useReviewList();

const PHONE = { viewport: { width: 375, height: 700 } };
const BY_KEY = 'API key \u2068test\u2069';

async function cancel(shop: ReviewedShop, number: string, reason?: string): Promise<string> {
  const reply = await api.cancel(shop.account, { source_order_id: number, ...(reason && { reason }) });
  return reply.body.outcome;
}

/** An account with dispatched orders that their sender wants to cancel. */
async function openWithRequests(reason: string, ...numbers: string[]): Promise<ReviewedShop> {
  const shop = await open(...numbers.map((number) => numbered(number)));
  for (const number of numbers) await request(shop, number, reason);
  return shop;
}

async function request(shop: ReviewedShop, number: string, reason: string): Promise<void> {
  const { knex } = stack.database;
  const order_number = number;
  const [id] = await knex('orders').where({ account_id: shop.account.id, order_number }).pluck('order_id');
  await knex('orders')
    .where({ order_id: id })
    .update({ review_state: 'confirmed', reviewed_by: 'x@example.test', reviewed_at: new Date(0) });
  expect(await cancel(shop, number, reason)).toBe('requested');
}

const requestsOf = (page: Page) => page.getByRole('region', { name: 'Cancellation requests' });
const done = (page: Page, number: string) => page.getByRole('button', { name: `Done: order ${number}`, exact: true });
const failure = (page: Page, number: string) => page.locator('.decision.is-failed', { hasText: number });
const decision = (page: Page, text: RegExp) => page.locator('.decision', { hasText: text });
const notice = (page: Page, text: string) => page.locator('.notice', { hasText: text });
const selectRequest = (page: Page, number: string) =>
  page.getByRole('checkbox', { name: `Select the request for order ${number}`, exact: true });
/** Collects the requests that the page sends to close, or to open again. */
function watchClosings(page: Page): { to: string; ids: number }[] {
  const sent: { to: string; ids: number }[] = [];
  page.on('request', (request) => {
    const to = request.url().match(/\/cancellations\/(\w+)$/)?.[1];
    if (to) sent.push({ to, ids: request.postDataJSON().order_ids.length });
  });
  return sent;
}

describe('an order that its sender cancels', () => {
  test('leaves the list in every open page, and no key decides about another', async () => {
    const shop = await open(numbered('A-1'), numbered('A-2'));
    const person = await createPerson(stack, shop.account.id);
    const page = await review(shop);
    const other = await review({ ...shop, person });
    const decisions = [watchDecisions(page), watchDecisions(other)];
    for (const one of [page, other]) {
      await rowOf(one, 'A-2').waitFor();
      await one.keyboard.press('j');
      await currentRow(one, 'A-2').waitFor();
    }
    expect(await cancel(shop, 'A-2')).toBe('cancelled');
    for (const one of [page, other]) {
      await rowOf(one, 'A-2').waitFor({ state: 'detached' });
      await one.keyboard.press('c');
      await one.keyboard.press('r');
      await afterKeys(one);
    }
    expect(decisions).toEqual([[], []]);
    expect(await statesOf(stack, shop)).toEqual({ 'A-1': 'needs_review', 'A-2': 'cancelled' });
  });

  test('says so where it is open, and takes no decision any more but to be reopened', async () => {
    const { shop, page, decisions } = await openList(numbered('B-1'), numbered('B-2'));
    await rowOf(page, 'B-2').getByRole('link').click();
    const pane = paneOf(page, 'B-2');
    await pane.getByRole('button', { name: 'Confirm' }).waitFor();
    await cancel(shop, 'B-2', 'The customer called');
    const note = pane.getByRole('status').filter({ hasText: `Cancelled by the sender, with the ${BY_KEY}` });
    await note.getByText('The customer called').waitFor();
    expect(await pane.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
    await page.keyboard.press('c');
    await page.keyboard.press('r');
    await afterKeys(page);
    expect(decisions).toEqual([]);
    const history = pane.locator('.history li', { hasText: 'Cancelled by the sender' });
    await history.getByText(BY_KEY).waitFor();
    await expectAccessible(page);
    await pane.getByRole('button', { name: 'Reopen order B-2' }).click();
    await becomes(stack, shop, 'B-2', 'needs_review');
    await rowOf(page, 'B-2').waitFor();
  });

  test('while its confirm key is pressed is not confirmed, and the message says who was first', async () => {
    const { shop, page } = await openList(numbered('D-1'), numbered('D-2'));
    await rowOf(page, 'D-2').waitFor();
    await page.keyboard.press('j');
    await currentRow(page, 'D-2').waitFor();
    const release = await holdRequests(page, /\/orders\/review$/);
    await page.keyboard.press('c');
    await cancel(shop, 'D-2');
    release();
    await failure(page, 'D-2').getByText('was not confirmed. The sender has cancelled it.').waitFor();
    expect(await page.locator('.decision', { hasText: /^Confirmed/ }).count()).toBe(0);
    expect(await statesOf(stack, shop)).toEqual({ 'D-1': 'needs_review', 'D-2': 'cancelled' });
    expect(await rowOf(page, 'D-2').count()).toBe(0);
    await currentRow(page, 'D-1').waitFor();
  });

  test('just after its confirmation is not brought back by the undo', async () => {
    const { shop, page } = await openList(numbered('U-1'));
    await rowOf(page, 'U-1').waitFor();
    // The page counts the time to undo too.
    await stopTime(page);
    await page.keyboard.press('j');
    await page.keyboard.press('c');
    await extendUndoOf(stack, shop);
    expect(await cancel(shop, 'U-1')).toBe('cancelled');
    await page.keyboard.press('u');
    await page.locator('.decision.is-failed', { hasText: 'The sender has cancelled it.' }).waitFor();
    expect(await statesOf(stack, shop)).toEqual({ 'U-1': 'cancelled' });
    expect(await rowOf(page, 'U-1').count()).toBe(0);
  });
});

describe('the list of cancelled orders', () => {
  test('names the key, finds orders by the search of the palette, and reopens several at once', async () => {
    const shop = await open(numbered('L-1'), numbered('L-2'), numbered('L-3'));
    for (const number of ['L-1', 'L-2']) await cancel(shop, number);
    const page = await review(shop);
    await page.getByRole('link', { name: 'Cancelled', exact: true }).click();
    await page.waitForURL('**?state=cancelled');
    await rowOf(page, 'L-2').locator('.order-channel').getByTitle(BY_KEY).waitFor();
    expect(await rowOf(page, 'L-3').count()).toBe(0);
    expect(await page.locator('.list-head .order-age').textContent()).toBe('Decided');
    await expectAccessible(page);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('L-1');
    await page.getByRole('option', { name: /^L-1.*cancelled/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('toolbar').getByRole('button', { name: 'Reopen' }).click();
    await page.getByText('No cancelled orders yet.').waitFor();
    for (const number of ['L-1', 'L-2']) await becomes(stack, shop, number, 'needs_review');
  });

  test('has an order that came after its cancellation, also on a phone and in Arabic', async () => {
    const shop = await open();
    expect(await cancel(shop, 'H-1', 'Changed my mind')).toBe('held');
    await api.order(shop.account, numbered('H-1'), { Prefer: 'wait=20' });
    const page = await review(shop, { ...PHONE, locale: 'ar-AE', path: '?state=cancelled' });
    await rowOf(page, 'H-1').locator('.order-by', { hasText: 'test' }).waitFor();
    await expectAccessible(page);
    await rowOf(page, 'H-1').getByRole('link').click();
    await page.getByText('وصل الإلغاء قبل الطلب.').waitFor();
    await page.getByText('Changed my mind').first().waitFor();
    expect(await page.locator('.order-pane .note bdi, .order-pane .note q').count()).toBeGreaterThan(0);
    await expectAccessible(page);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBe(0);
  });
});

describe('requests to cancel orders that were dispatched', () => {
  test('come into every open page, and are done one by one without a row moving', async () => {
    const shop = await openWithRequests('Wrong address', 'R-1', 'R-2');
    const person = await createPerson(stack, shop.account.id);
    const page = await review(shop);
    await requestsOf(page).getByText('2 orders that were dispatched are to be cancelled').waitFor();
    const first = requestsOf(page).getByRole('listitem').filter({ hasText: 'R-1' });
    await first.getByText('Wrong address').waitFor();
    expect(await first.getByRole('link', { name: '+971 50' }).getAttribute('href')).toMatch(/^tel:\+97150\d{7}$/);
    await expectAccessible(page);
    const other = await review({ ...shop, person });
    const before = await done(other, 'R-2').boundingBox();
    await done(page, 'R-1').click();
    await decision(page, /^Cancellation request of .*R-1.* done/).waitFor();
    await requestsOf(other).getByText('1 order that was dispatched is to be cancelled').waitFor();
    expect(await done(other, 'R-1').count()).toBe(0);
    expect((await done(other, 'R-2').boundingBox())?.y).toBe(before?.y);
    await expectAccessible(other);
    await done(other, 'R-2').focus();
    await other.keyboard.press('Enter');
    for (const one of [page, other]) await requestsOf(one).waitFor({ state: 'detached' });
    const closed = await stack.database
      .knex('cancellation_requests')
      .where({ account_id: shop.account.id })
      .pluck('closed_by');
    expect(new Set(closed)).toEqual(new Set([shop.person.email, person.email]));
  });

  test('are chosen and done together, and opened again by the undo', async () => {
    const shop = await openWithRequests('late', 'B-1', 'B-2', 'B-3', 'B-4', 'B-5');
    const page = await review(shop);
    const sent = watchClosings(page);
    await requestsOf(page).getByText('5 orders that were dispatched are to be cancelled').waitFor();
    // The page counts the time to undo too.
    await stopTime(page);
    await selectRequest(page, 'B-2').check();
    await page.getByRole('checkbox', { name: 'Select all 5' }).check();
    await selectRequest(page, 'B-5').waitFor();
    await selectRequest(page, 'B-1').uncheck();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Mark 4 as done' }).dblclick();
    await decision(page, /^4 cancellation requests done/).waitFor();
    await requestsOf(page).getByText('1 order that was dispatched is to be cancelled').waitFor();
    expect(await done(page, 'B-1').count()).toBe(1);
    expect(await page.getByRole('button', { name: /^Mark / }).count()).toBe(0);
    await decision(page, /done/).getByRole('button', { name: 'Undo' }).dblclick();
    await decision(page, /^4 cancellation requests open again/).waitFor();
    await requestsOf(page).getByText('5 orders that were dispatched are to be cancelled').waitFor();
    expect(sent).toEqual([
      { to: 'close', ids: 4 },
      { to: 'reopen', ids: 4 },
    ]);
    // Nothing stayed selected.
    expect(await page.getByRole('button', { name: /^Mark / }).count()).toBe(0);
    await done(page, 'B-3').dblclick();
    await decision(page, /Cancellation request of .*B-3.* done/).waitFor();
    await requestsOf(page).getByText('4 orders that were dispatched are to be cancelled').waitFor();
    await page.keyboard.press('u');
    await requestsOf(page).getByText('5 orders that were dispatched are to be cancelled').waitFor();
    await done(page, 'B-3').waitFor();
    expect(sent.slice(2)).toEqual([
      { to: 'close', ids: 1 },
      { to: 'reopen', ids: 1 },
    ]);
  });

  test('that are undone before the service has closed them are open again, and what a colleague closed is said', async () => {
    const shop = await openWithRequests('late', 'W-1', 'W-2', 'W-3');
    const person = await createPerson(stack, shop.account.id);
    const page = await review(shop);
    await done(page, 'W-1').waitFor();
    await stopTime(page);
    const sent = watchClosings(page);
    const release = await holdRequests(page, /\/cancellations\/close$/);
    await done(page, 'W-1').click();
    await decision(page, /^Marking the cancellation request/).waitFor();
    expect(await done(page, 'W-1').getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('u');
    release();
    await decision(page, /^Cancellation request of .*W-1.* open again/).waitFor();
    expect(sent.map(({ to }) => to)).toEqual(['close', 'reopen']);
    await done(page, 'W-1').and(page.locator('[aria-disabled=false]')).waitFor();

    await intercept(page, /\/orders\/updates/, (route) => route.abort());
    const colleague = below(await signIn(portal, person), shop.account.id);
    const [w2] = await stack.database
      .knex('orders')
      .where({ account_id: shop.account.id, order_number: 'W-2' })
      .pluck('order_id');
    expect((await colleague.post('/orders/cancellations/close', { order_ids: [w2] })).status).toBe(200);
    await page.getByRole('checkbox', { name: 'Select all 3' }).check();
    await page.getByRole('button', { name: 'Mark 3 as done' }).click();
    await decision(page, /2 cancellation requests done/).waitFor();
    await failure(page, 'W-2').getByText('Somebody has already marked it as done.').waitFor();
    await expectAccessible(page);
  });

  test('open their order, where they are done as well', async () => {
    const shop = await openWithRequests('Wrong address', 'O-1');
    const page = await review(shop);
    await requestsOf(page).getByRole('link', { name: 'O-1' }).click();
    const panel = paneOf(page, 'O-1').getByRole('region', { name: 'This order is to be cancelled' });
    await panel.getByText(BY_KEY).waitFor();
    await panel.getByText('Wrong address').waitFor();
    await expectAccessible(page);
    await panel.getByRole('button', { name: 'Done' }).click();
    await decision(page, /^Cancellation request of .*O-1.* done/).waitFor();
    await page.getByText('This order was to be cancelled').waitFor();
    await page.locator('.cancellation:focus').getByText(shop.person.email).waitFor();
    await requestsOf(page).waitFor({ state: 'detached' });
    await page.locator('.history li', { hasText: 'Cancellation request done' }).waitFor();
    await page.goto(`${portal.url}/accounts/${shop.account.id}/log`);
    const entry = page.getByRole('row').filter({ hasText: 'Asked to cancel the order after it was dispatched' });
    await entry.getByText(BY_KEY).waitFor();
  });

  test('fit on a phone, in the dark and in Arabic', async () => {
    const numbers = Array.from({ length: 4 }, (_, index) => `P-${index}`);
    const shop = await open(numbered('Q-1'), ...numbers.map((number) => numbered(number)));
    for (const number of numbers) await request(shop, number, 'x'.repeat(500));
    const page = await review(shop, { ...PHONE, locale: 'ar-AE', colorScheme: 'dark' });
    const panel = page.getByRole('region', { name: 'طلبات الإلغاء' });
    await panel.getByText('إلغاء 4 طلبات').first().waitFor();
    await expectAccessible(page);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBe(0);
    const list = await page.locator('.order-scroll').boundingBox();
    expect(list?.height).toBeGreaterThan(150);
    await panel.getByRole('link', { name: 'P-2' }).waitFor();
    expect(await panel.getByRole('link', { name: 'P-3' }).count()).toBe(0);
    await panel.getByRole('button', { name: 'عرض الكل (4)' }).click();
    await panel.getByRole('link', { name: 'P-3' }).waitFor();
    await expectAccessible(page);
    await panel.getByRole('button', { name: 'عرض أقل' }).click();
    await panel.getByRole('button', { name: 'تم: الطلب ⁨P-0⁩', exact: true }).click();
    await panel.getByText('إلغاء 3 طلبات').waitFor();
    await panel.getByRole('link', { name: 'P-1' }).click();
    const asked = page.locator('.order-pane .cancellation');
    await asked.waitFor();
    await expectAccessible(page);
    expect(await asked.evaluate((section) => section.scrollWidth - section.clientWidth)).toBe(0);
  });

  test('are made by a recall, once, with a reason; before it is dispatched, the order comes back', async () => {
    const shop = await open(numbered('Y-1'), numbered('Y-2'));
    const { knex } = stack.database;
    await knex('orders')
      .where({ account_id: shop.account.id })
      .update({ review_state: 'confirmed', reviewed_by: 'x@example.test', reviewed_at: new Date(0) });
    await knex.raw(
      `insert into undispatched_orders (account_id, order_id, due_at) select account_id, order_id, now() + interval '1 h' from orders
       where account_id = ? and order_number = 'Y-2'`,
      [shop.account.id],
    );
    const page = await review(shop, { path: '?state=confirmed' });
    const recall = async (number: string) => {
      await rowOf(page, number).getByRole('link').click();
      await paneOf(page, number)
        .getByRole('button', { name: `Recall order ${number}` })
        .click();
      const dialog = page.getByRole('dialog', { name: `Recall order ${number}` });
      await dialog.getByRole('radio', { name: 'The customer cannot be reached' }).check();
      await dialog.getByRole('button', { name: 'Recall', exact: true }).dblclick();
      await dialog.waitFor({ state: 'detached' });
    };
    await recall('Y-2');
    await notice(page, 'Order Y-2 needs review again').waitFor();
    await becomes(stack, shop, 'Y-2', 'needs_review');
    await recall('Y-1');
    await notice(page, 'Order Y-1 was dispatched.').waitFor();
    await requestsOf(page).getByText('The customer cannot be reached').waitFor();
    const panel = paneOf(page, 'Y-1').getByRole('region', { name: 'This order is to be cancelled' });
    await panel.getByText(shop.person.email).waitFor();
    expect(await page.getByRole('button', { name: 'Recall order Y-1' }).count()).toBe(0);
    await expectAccessible(page);
    expect((await statesOf(stack, shop))['Y-1']).toBe('confirmed');
  });

  test('are counted in the overview, with a link to them', async () => {
    const shop = await openWithRequests('late', 'V-1');
    const page = await review(shop);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('link', { name: '1 open cancellation request' }).click();
    await requestsOf(page).waitFor();
    expect(await page.evaluate('location.pathname')).toBe(`/accounts/${shop.account.id}/orders`);
  });

  test('of another account are shown to nobody', async () => {
    await openWithRequests('theirs', 'X-1');
    const { page } = await openList(numbered('X-2'));
    await rowOf(page, 'X-2').waitFor();
    await page.locator('.tabs [data-count]').waitFor();
    expect(await requestsOf(page).count()).toBe(0);
  });
});
