import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { expectAccessible, intercept } from '../harness/browser.ts';
import { createPerson, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import {
  afterKeys,
  becomes,
  currentRow,
  extendUndoOf,
  insertBulk,
  numbered,
  type ReviewedShop,
  rowOf,
  useReviewList,
  watchDecisions,
} from '../harness/review-page.ts';

const describe = describeWith('chromium');

const PHONE = { viewport: { width: 375, height: 700 } };

const { stack, portal, open, review, openList } = useReviewList();

/** A second reviewer of the account. */
async function colleagueOf(shop: ReviewedShop): Promise<{
  person: TestPerson;
  client: PortalClient;
  decide: (number: string, to: string) => Promise<void>;
}> {
  const person = await createPerson(stack, shop.account.id);
  const client = await signIn(portal, person);
  return {
    person,
    client,
    async decide(number, to) {
      const order_ids = [await idOf(shop, number)];
      const body = { order_ids, to, ...(to === 'rejected' && { reason: 'Cancelled by the customer' }) };
      const reply = await client.post(`/accounts/${shop.account.id}/orders/review`, body);
      expect(reply.status).toBe(200);
    },
  };
}

async function idOf({ account }: ReviewedShop, number: string): Promise<number> {
  const order = await stack.database.knex('orders').where({ account_id: account.id, order_number: number }).first();
  return order.order_id;
}

describe('the decision of another reviewer', () => {
  test('removes the order from the list, and its undo brings it back', async () => {
    const shop = await open(numbered('A-1'), numbered('A-2'));
    const colleague = await colleagueOf(shop);
    const page = await review(shop);
    await rowOf(page, 'A-2').waitFor();
    await colleague.decide('A-2', 'confirmed');
    await rowOf(page, 'A-2').waitFor({ state: 'detached' });
    const order_ids = [await idOf(shop, 'A-2')];
    await extendUndoOf(stack, shop);
    await colleague.client.post(`/accounts/${shop.account.id}/orders/review/undo`, { order_ids });
    await rowOf(page, 'A-2').waitFor();
    await rowOf(page, 'A-1').waitFor();
  });

  test('about the current order leaves no current order, so that a key decides about no other', async () => {
    const shop = await open(numbered('B-1'), numbered('B-2'));
    const colleague = await colleagueOf(shop);
    const page = await review(shop);
    const decisions = watchDecisions(page);
    await rowOf(page, 'B-2').waitFor();
    await page.keyboard.press('j');
    await currentRow(page, 'B-2').waitFor();
    await colleague.decide('B-2', 'rejected');
    await rowOf(page, 'B-2').waitFor({ state: 'detached' });
    await page.keyboard.press('c');
    await page.keyboard.press('r');
    await afterKeys(page);
    expect(decisions).toEqual([]);
  });

  test('is named in the lists of decided orders, with its time', async () => {
    const shop = await open(numbered('C-1'));
    const colleague = await colleagueOf(shop);
    await colleague.decide('C-1', 'confirmed');
    const page = await review(shop, { path: '?state=confirmed' });
    await rowOf(page, 'C-1').locator('.order-channel').getByTitle(colleague.person.email).waitFor();
    await rowOf(page, 'C-1').getByText('ago').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 375, height: 700 });
    await rowOf(page, 'C-1').locator('.order-by').waitFor();
    await expectAccessible(page);
  });
});

describe('a list that is not updated', () => {
  const note = (page: Page) => page.getByText('Not updated since');

  test('says so and since when, until it is updated again', async () => {
    const shop = await open(numbered('E-1'));
    const colleague = await colleagueOf(shop);
    const page = await review(shop);
    await rowOf(page, 'E-1').waitFor();
    await page.context().setOffline(true);
    await note(page).waitFor();
    await page.locator('[role=status]', { has: note(page) }).waitFor();
    await expectAccessible(page);
    await colleague.decide('E-1', 'confirmed');
    await page.context().setOffline(false);
    // The next poll can update the list, and remove the button, before the click.
    await Promise.race([
      page
        .getByRole('button', { name: 'Try again' })
        .click()
        .catch(() => {}),
      note(page).waitFor({ state: 'detached' }),
    ]);
    await note(page).waitFor({ state: 'detached' });
    await rowOf(page, 'E-1').waitFor({ state: 'detached' });
  });

  test('says so also if the portal does not answer', async () => {
    const { page } = await openList(numbered('F-1'));
    await rowOf(page, 'F-1').waitFor();
    const held: Route[] = [];
    await intercept(page, /orders\/(updates|new|counts|resent)\?/, (route) => {
      held.push(route);
    });
    await note(page).waitFor();
    await page.unrouteAll();
    await note(page).waitFor({ state: 'detached' });
  });

  test('says so also if the answers are cut off', async () => {
    const { page } = await openList(numbered('I-1'));
    await rowOf(page, 'I-1').waitFor();
    await intercept(page, /orders\/updates\?/, (route) =>
      route.fulfill({ contentType: 'application/json', body: '{"new":{"orders":[' }),
    );
    await note(page).waitFor();
    await rowOf(page, 'I-1').waitFor();
    await page.unrouteAll();
    await note(page).waitFor({ state: 'detached' });
  });

  test('keeps the decisions of the reviewer', async () => {
    const { shop, page } = await openList(numbered('H-1'), numbered('H-2'));
    await rowOf(page, 'H-2').waitFor();
    const held: Route[] = [];
    await intercept(page, /orders\/updates\?/, (route) => {
      held.push(route);
    });
    await page.keyboard.press('j');
    await currentRow(page, 'H-2').waitFor();
    await page.keyboard.press('c');
    await becomes(stack, shop, 'H-2', 'confirmed');
    for (const route of held) await route.continue().catch(() => {});
    await page.unrouteAll();
    await currentRow(page, 'H-1').waitFor();
    expect(await rowOf(page, 'H-2').count()).toBe(0);
  });
});

describe('another reviewer', () => {
  test('who edits an order changes it in the list', async () => {
    const shop = await open(numbered('D-1'));
    const colleague = await colleagueOf(shop);
    const page = await review(shop);
    await rowOf(page, 'D-1').waitFor();
    await colleague.client.patch(`/accounts/${shop.account.id}/orders/${await idOf(shop, 'D-1')}`, {
      edits: { '/customer/name': 'Maryam' },
    });
    await rowOf(page, 'D-1').getByText('Maryam').waitFor();
  });

  test('is shown while the list is open there, also at the order', async () => {
    const shop = await open(numbered('G-1'), numbered('G-2'));
    const { person } = await colleagueOf(shop);
    const page = await review(shop);
    await rowOf(page, 'G-2').waitFor();
    const viewers = page.locator('.viewers', { hasText: person.name });
    const other = await review({ ...shop, person });
    await viewers.waitFor();
    await rowOf(other, 'G-1').getByRole('link').click();
    await rowOf(page, 'G-1').getByText('Being viewed by').waitFor({ state: 'attached' });
    expect(await rowOf(page, 'G-2').getByText('Being viewed by').count()).toBe(0);
    await expectAccessible(page);
    await other.context().close();
    await viewers.waitFor({ state: 'detached' });
  });
});

describe('an order of the last seconds', () => {
  test('that is not loaded yet appears once, at its place', async () => {
    const shop = await open(numbered('OLD-1'));
    await insertBulk(stack, shop, 150);
    const page = await review(shop);
    await rowOf(page, 'BULK-0150').waitFor();
    // Each update tells it.
    await stack.database
      .knex('orders')
      .where({ order_id: await idOf(shop, 'OLD-1') })
      .update({ written_at: stack.database.knex.raw("now() + interval '1 hour'") });
    // The first one may have been requested before.
    for (let count = 0; count < 2; count++)
      await page.waitForResponse((response) => response.ok() && response.url().includes('/orders/updates?'));
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByText('100 selected').waitFor();
    await page.locator('.order-scroll').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await rowOf(page, 'BULK-0045').waitFor();
    await page.locator('.order-scroll').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await rowOf(page, 'OLD-1').waitFor();
  });
});

describe('deliveries that failed', () => {
  const strip = (page: Page) => page.locator('.list-note', { hasText: 'became no order' });
  const fail = ({ account }: ReviewedShop, code: string, at: Date) =>
    stack.database.knex('dead_letters').insert({
      account_id: account.id,
      receipt_id: randomUUID(),
      error_code: code,
      source_order_id: 'x',
      died_at: at,
    });

  test('are counted over the list until somebody has seen them, and again when another fails', async () => {
    const shop = await open(numbered('F-1'));
    const today = new Date().setHours(12, 5);
    await fail(shop, 'write_refused', new Date(today - 60 * 86_400_000));
    await fail(shop, 'write_refused', new Date(today));
    await fail(shop, 'no_order_id', new Date(today - 60_000));
    const viewer = await createPerson(stack, shop.account.id, 'viewer');
    const page = await review({ ...shop, person: viewer });
    const [day, month] = new Date(today - 60 * 86_400_000)
      .toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
      .split(' ');
    await strip(page).getByText(`3 deliveries failed and became no order · oldest ${day} ${month}, 12:05 · `).waitFor();
    await expectAccessible(page);
    await strip(page).getByRole('button', { name: 'Hide until another delivery fails' }).click();
    await strip(page).waitFor({ state: 'detached' });
    const counted = page.waitForResponse(/dead-letters\/counts/);
    await page.reload();
    await counted;
    await rowOf(page, 'F-1').waitFor();
    await fail(shop, 'write_refused', new Date(today + 1000));
    // Another device has not hidden it.
    const other = await review(shop, { ...PHONE, locale: 'ar' });
    await other.getByText('4 إرسالات فشلت').waitFor();
    await expectAccessible(other);
    expect(await strip(page).count()).toBe(0);
    await page.reload();
    await strip(page).getByRole('link', { name: 'See them' }).click();
    await page.waitForURL('**/receipts?state=dead');
  });

  test('alone and of today are told by their time', async () => {
    const shop = await open(numbered('G-1'));
    await fail(shop, 'write_refused', new Date(new Date().setHours(12, 5)));
    const page = await review(shop);
    await strip(page).getByText('1 delivery failed and became no order · 12:05 · See it').waitFor();
  });
});
