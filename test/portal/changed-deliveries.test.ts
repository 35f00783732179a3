import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { BrowserContextOptions, Locator, Page, Route } from 'playwright-core';
import { codeOf } from '../harness/api.ts';
import { expectAccessible, intercept, openPage, openPageAs, stopPageClock, visitAs } from '../harness/browser.ts';
import { erase } from '../harness/erasure.ts';
import { below, createPerson, openShop, signIn } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { afterKeys, insertBulk, numbered, rowOf } from '../harness/review-page.ts';
import { listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const FIRST = numbered('R-1');
const AGAIN = { ...FIRST, customer: { ...FIRST.customer, phone: '050 765 4321' }, emirate: 'Sharjah' };
const CHANGES = [
  { pointer: '/customer/phone', from: '+971501234567', to: '+971507654321' },
  { pointer: '/emirate', from: 'Dubai', to: 'Sharjah' },
  { pointer: '/emirate_code', from: 'AE-DU', to: 'AE-SH' },
];
const PHONE = { viewport: { width: 390, height: 844 } };

const { stack, knex, api, portal, shop } = useStack({ intake: true, worker: true, portal: true, shop: 'each test' });

const send = (order: object) => api.process(shop.account, order);
/** Sends the order for the first time. */
const begin = async (order: object = FIRST): Promise<number> => (await send(order)).order_id;
/** Sends the order again. @returns the id of the receipt. */
const sendChanged = async (order: object = AGAIN): Promise<string> => (await send(order)).receipt_id;
const choose = (resends: 'ignore' | 'hold') => shop.client.put(`/accounts/${shop.account.id}/resends`, { resends });
const decide = (orderId: number, receiptId: string, decision: string) =>
  shop.post(`/orders/${orderId}/resends/${receiptId}`, { decision });
const confirm = (...order_ids: number[]) => shop.post('/orders/review', { order_ids, to: 'confirmed' });
const show = async (orderId: number) => (await shop.get(`/orders/${orderId}`)).body;
const listed = async () =>
  (await shop.get('/orders')).body.orders.map(({ resent }: { resent: string | null }) => resent);
const log = () => listChanges(knex, shop.account.id, 20);

describe('over HTTP', () => {
  test('an order lists its changed deliveries, newest first, except those without changes', async () => {
    const orderId = await begin();
    await begin({ ...FIRST, source_order_id: 'R-2' });
    await sendChanged(FIRST);
    expect(await listed()).toEqual([null, null]);
    expect(await show(orderId)).toMatchObject({ resends: [], hold_resends: false, order: { resent: null } });
    const [older, newer] = [await sendChanged({ ...FIRST, total: '1' }), await sendChanged()];
    const undecided = {
      received_at: expect.any(String),
      is_outdated: false,
      decision: null,
      decided_by: null,
      decided_at: null,
    };
    const { order, resends } = await show(orderId);
    expect(resends).toEqual([
      { ...undecided, receipt_id: newer, changes: CHANGES },
      { ...undecided, receipt_id: older, changes: [{ pointer: '/total', from: '1250.50', to: '1' }] },
    ]);
    expect(order).toMatchObject({ customer: { phone: '+971501234567' }, total: '1250.50', resent: 'undecided' });
    expect((await shop.get('/orders/ids')).body).toMatchObject({ undecided_ids: [orderId] });
    const { orders } = (await shop.get('/orders')).body;
    const { items: _items, warnings: _warnings, ...inList } = order;
    expect(orders).toEqual([expect.objectContaining({ resent: null }), inList]);
    const updates = await shop.get('/orders/updates?after=0');
    expect([updates.body.new.orders, updates.body.edited]).toEqual([orders, [inList]]);
  });

  test('accepting a changed delivery changes the order and refusing it does not, and each decision is recorded with its user', async () => {
    const orderId = await begin();
    const first = await sendChanged();
    const accepted = await decide(orderId, first, 'accepted');
    expect(accepted.status).toBe(200);
    expect(accepted.body).toEqual(await show(orderId));
    expect(accepted.body).toMatchObject({
      order: { customer: { phone: '+971507654321' }, emirate_code: 'AE-SH', total: '1250.50', resent: 'decided' },
      resends: [{ decision: 'accepted', decided_by: shop.person.email, decided_at: expect.any(String) }],
      history: [{ action: 'resend_accepted', by: shop.person.email, changes: expect.any(Array) }],
    });
    const second = await sendChanged({ ...AGAIN, total: '1' });
    const refused = await decide(orderId, second, 'refused');
    expect(refused.body).toMatchObject({
      order: { total: '1250.50', resent: 'decided' },
      resends: [{ receipt_id: second, decision: 'refused' }, { receipt_id: first }],
      history: [{ action: 'resend_refused' }, { action: 'resend_accepted' }],
    });
    expect(await log()).toMatchObject([
      { actor: shop.person.email, action: 'resend_refused', subject: `order:${orderId}` },
      { actor: shop.person.email, action: 'resend_accepted', subject: `order:${orderId}` },
    ]);
  });

  test('accepting a changed delivery empties nothing that it does not mention, and removes what it says is empty', async () => {
    const { customer, ...rest } = FIRST;
    const orderId = await begin();
    const source_order_id = 'R-1';
    const before = (await show(orderId)).order;
    const address = 'Villa 9, Street 4B, Dubai';
    const partial = await sendChanged({ source_order_id, address } as typeof AGAIN);
    const changes = [{ pointer: '/address', from: before.address, to: address }];
    expect((await show(orderId)).resends).toMatchObject([{ receipt_id: partial, changes }]);
    const after = (await decide(orderId, partial, 'accepted')).body.order;
    expect(after).toEqual({ ...before, address, resent: 'decided' });

    // The address of the accepted one and everything else of the first: no change, although a reviewer edited the name meanwhile.
    await shop.patch(`/orders/${orderId}`, { edits: { '/customer/name': 'Edited' } });
    await sendChanged({ ...FIRST, address } as typeof AGAIN);
    expect((await show(orderId)).resends).toHaveLength(1);

    const removing = await sendChanged({
      ...rest,
      address,
      items: [],
      customer: { ...customer, phone: null },
    } as never);
    expect((await show(orderId)).resends[0]).toMatchObject({
      receipt_id: removing,
      changes: [
        { pointer: '/customer/phone', from: '+971501234567', to: null },
        { pointer: '/items', to: [] },
      ],
    });
    expect((await decide(orderId, removing, 'accepted')).body.order).toMatchObject({
      customer: { name: 'Edited', phone: null },
      items: [],
      address,
    });
  });

  test('an edited item that was also changed by a changed delivery makes all items one change', async () => {
    const items = [...FIRST.items, { name: 'Samosa', quantity: 4, sku: null }];
    const orderId = await begin({ ...FIRST, items });
    const resent = [{ name: 'Karak', quantity: 3, sku: 'K-1' }, items[1]];
    const receiptId = await sendChanged({ ...FIRST, total: '1', items: resent });
    const total = { pointer: '/total', from: '1250.50', to: '1' };
    const changesOf = async () => (await show(orderId)).resends[0].changes;
    expect(await changesOf()).toEqual([total, { pointer: '/items/0/quantity', from: 2, to: 3 }]);
    await shop.patch(`/orders/${orderId}`, { edits: { '/items/1/quantity': 9 } });
    expect(await changesOf()).toEqual([total, { pointer: '/items/0/quantity', from: 2, to: 3 }]);
    await shop.patch(`/orders/${orderId}`, { edits: { '/items/0/name': 'Karak, large' } });
    expect(await changesOf()).toEqual([total, { pointer: '/items', from: items, to: resent }]);
    expect((await decide(orderId, receiptId, 'accepted')).body.order).toMatchObject({ total: '1', items: resent });
  });

  test('an order on hold is not confirmed before a decision, and the reply says which orders stayed and why', async () => {
    const [orderId, otherOrder] = [await begin(), await begin({ ...FIRST, source_order_id: 'R-2' })];
    await choose('hold');
    const receiptId = await sendChanged();
    expect((await show(orderId)).hold_resends).toBe(true);
    expect((await confirm(orderId, otherOrder)).body).toMatchObject({
      changed: [otherOrder],
      unchanged: [{ order_id: orderId, review_state: 'needs_review', held: true }],
    });
    await decide(orderId, receiptId, 'refused');
    expect((await confirm(orderId)).body).toMatchObject({ changed: [orderId], unchanged: [] });
  });

  test('a decision about an old or decided changed delivery, or a confirmed order, is a conflict', async () => {
    const orderId = await begin();
    const [older, newer] = [await sendChanged({ ...FIRST, total: '1' }), await sendChanged()];
    const conflict = { status: 409, body: { code: 'conflicting_state' } };
    expect(await decide(orderId, older, 'accepted')).toMatchObject(conflict);
    expect((await decide(orderId, newer, 'refused')).status).toBe(200);
    expect(await decide(orderId, newer, 'accepted')).toMatchObject(conflict);
    await confirm(orderId);
    expect(await decide(orderId, await sendChanged({ ...FIRST, total: '2' }), 'accepted')).toMatchObject(conflict);
    expect((await show(orderId)).order).toMatchObject({ total: '1250.50', resent: 'undecided' });
  });

  test('changed deliveries of an erased customer are not shown', async () => {
    const orderId = await begin();
    await sendChanged();
    await erase(stack, shop.account, '--phone', '0501234567');
    expect(await show(orderId)).toMatchObject({ resends: [], order: { resent: null } });
    expect(await listed()).toEqual([null]);
  });

  test('the setting is read and changed by the holder and operators, and each change is recorded', async () => {
    const path = `/accounts/${shop.account.id}/resends`;
    expect((await shop.get('/resends')).body).toEqual({ resends: 'ignore' });
    expect(await choose('hold')).toMatchObject({ status: 200, body: { resends: 'hold' } });
    await choose('hold');
    const operator = await createPerson(stack, null);
    const client = await signIn(portal, operator);
    expect((await client.get(path)).body).toEqual({ resends: 'hold' });
    expect((await client.put(path, { resends: 'ignore' })).body).toEqual({ resends: 'ignore' });
    const [action, subject] = ['resends_hold_changed', `account:${shop.account.id}`];
    expect(await log()).toEqual([
      { actor: operator.email, action, subject, details: { resends: 'ignore' } },
      { actor: shop.person.email, action, subject, details: { resends: 'hold' } },
    ]);
  });

  test.each([{}, { resends: 'maybe' }, { resends: true }, { resends: 'hold', account_id: 1 }])(
    'the setting %j is rejected',
    async (body) => {
      const reply = await shop.client.put(`/accounts/${shop.account.id}/resends`, body);
      expect(codeOf(reply)).toEqual([422, 'invalid_request']);
    },
  );

  test('an invalid decision, order or changed delivery is rejected', async () => {
    const orderId = await begin();
    const receiptId = await sendChanged();
    const codeOf = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code];
    expect(codeOf(await decide(orderId, receiptId, 'maybe'))).toEqual([422, 'invalid_request']);
    for (const id of [0, 'x', 2 ** 52])
      expect(codeOf(await decide(id as number, receiptId, 'accepted'))).toEqual([404, 'order_not_found']);
    for (const id of ['x', '01a1f9bd-9a17-7354-8023-e51a3a7d2f89'])
      expect(codeOf(await decide(orderId, id, 'accepted'))).toEqual([404, 'receipt_not_found']);
  });

  test('changed deliveries of another account are not found on every route', async () => {
    const orderId = await begin();
    const receiptId = await sendChanged();
    const { client, ...other } = await openShop(stack, portal);
    const path = `/orders/${orderId}/resends/${receiptId}`;
    expect(await other.post(path, { decision: 'accepted' })).toMatchObject({ body: { code: 'order_not_found' } });
    expect((await other.get('/orders/updates?after=0')).body.edited).toEqual([]);
    const theirs = below(client, shop.account.id);
    const base = `/accounts/${shop.account.id}`;
    const ask = () => [
      theirs.post(path, { decision: 'accepted' }),
      theirs.get('/orders/updates?after=0'),
      theirs.get('/resends'),
      client.put(`${base}/resends`, { resends: 'hold' }),
    ];
    for (const reply of await Promise.all(ask()))
      expect(reply).toMatchObject({ status: 404, body: { code: 'account_not_found' } });
    await client.delete('/session');
    for (const reply of await Promise.all(ask()))
      expect(reply).toMatchObject({ status: 401, body: { code: 'not_signed_in' } });
    expect(await log()).toEqual([]);
  });
});

/** Opens a page of the shop as its holder. */
const visit = (path: string, options: BrowserContextOptions = {}): Promise<Page> =>
  openPageAs(portal, shop.person, `/accounts/${shop.account.id}${path}`, options);

const panelOf = (page: Page) => page.locator('.changed-delivery-panel');
const confirmButton = (place: Locator) => place.getByRole('button', { name: 'Confirm', exact: true });
/** The fields of the panel by name, each with its labels and values. */
const fieldsIn = async (page: Page) => {
  const items = panelOf(page).locator('.changed-delivery-fields > li');
  await items.first().waitFor();
  const fields = await items.all();
  const linesOf = (field: Locator) => field.locator('h4, dt, dd').allTextContents();
  return Object.fromEntries((await Promise.all(fields.map(linesOf))).map(([name, ...rest]) => [name, rest]));
};
const stateOf = async (orderId: number) => {
  const [order] = await knex('orders').where({ order_id: orderId });
  return order.review_state;
};

describeWith('chromium')('on the page', () => {
  test('an order on hold is accepted by keyboard and then confirmed', async () => {
    const orderId = await begin();
    await choose('hold');
    await sendChanged();
    const page = await visit(`/orders/${orderId}`);
    await rowOf(page, 'R-1').getByText('Sent again with changes').waitFor({ state: 'attached' });
    await panelOf(page).getByText('cannot be confirmed until somebody chooses a version').waitFor();
    expect(await fieldsIn(page)).toEqual({
      Phone: ['Now', '+971 50 123 4567', 'Sent again', '+971 50 765 4321'],
      Emirate: ['Now', 'Dubai', 'Sent again', 'Sharjah'],
    });
    await page.getByRole('button', { name: 'Confirm order R-1' }).click();
    await page.getByText('R-1\u2069 · \u2068Fatima\u2069 was not confirmed').waitFor();
    await page.locator('.changed-delivery-panel:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.locator('button:focus', { hasText: 'Use the new version' }).waitFor();
    await page.keyboard.press('Enter');
    await panelOf(page).getByText('New version used by').waitFor();
    await page.locator('.changed-delivery-panel:focus').waitFor();
    await page.locator('.notice', { hasText: 'the order has the values that were sent again' }).waitFor();
    await page.locator('.order-facts').getByText('+971 50 765 4321').waitFor();
    await page.locator('.history').getByText('New version used').waitFor();
    await rowOf(page, 'R-1').getByText('with changes (decided)').waitFor({ state: 'attached' });
    await page.keyboard.press('c');
    await rowOf(page, 'R-1').waitFor({ state: 'detached' });
    await until('it is confirmed', async () => (await stateOf(orderId)) === 'confirmed');
  });

  test('the button that accepts a changed delivery names what it removes', async () => {
    await choose('hold');
    const orderId = await begin();
    await sendChanged({ ...FIRST, customer: { ...FIRST.customer, phone: null }, items: [] } as never);
    const page = await openPageAs(portal, shop.person, `/accounts/${shop.account.id}/orders/${orderId}`);
    const panel = page.getByRole('region', { name: 'Sent again with changes' });
    await panel.getByText('removed').first().waitFor();
    expect(await panel.getByText('removed', { exact: true }).count()).toBe(2);
    await expectAccessible(page);
    await panel.getByRole('button', { name: /^Use the new version, and remove: .*Phone.* and .*Items/ }).click();
    await panel.getByText('New version used by').waitFor();
    expect((await show(orderId)).order).toMatchObject({ customer: { phone: null }, items: [] });
  });

  test('a refused changed delivery changes nothing, and earlier changed deliveries are listed with the original values of edited fields', async () => {
    const orderId = await begin();
    await choose('hold');
    await sendChanged({ ...FIRST, total: '1' });
    await sendChanged({ ...FIRST, items: [{ name: 'Water', quantity: 1 }, ...FIRST.items], address: 'Villa 13' });
    await shop.patch(`/orders/${orderId}`, { edits: { '/address': 'Villa 12, blue gate' } });
    const page = await visit(`/orders/${orderId}`);
    await panelOf(page).waitFor();
    expect(await fieldsIn(page)).toEqual({
      Address: ['Now', 'Villa 12, blue gate', 'Sent again', 'Villa 13', 'Sent before', 'Villa 12, Street 4'],
      Items: ['Now', '2 × Karak (K-1)', 'Sent again', '1 × Water\n2 × Karak (K-1)'],
    });
    await panelOf(page).getByText('Earlier version').click();
    await panelOf(page).locator('.change-list', { hasText: '1,250.50' }).waitFor();
    await panelOf(page).getByRole('button', { name: 'Keep the current version' }).click();
    await panelOf(page).getByText('Current version kept by').waitFor();
    await page.locator('.order-facts').getByText('Villa 12, blue gate').waitFor();
    expect(await panelOf(page).getByRole('button').count()).toBe(0);
    await page.getByRole('button', { name: 'Confirm order R-1' }).click();
    await until('it is confirmed', async () => (await stateOf(orderId)) === 'confirmed');
  });

  test('a change that was too long to store is named, its receipt shows it, and it is accepted whole', async () => {
    const many = (quantity: number) =>
      Array.from({ length: 400 }, (_, index) => ({
        name: `Dish ${index}`,
        quantity,
        sku: `a rather long SKU ${index}`,
      }));
    const orderId = await begin({ ...FIRST, items: many(1) });
    await choose('hold');
    const receiptId = await sendChanged({ ...FIRST, total: '1', items: many(2) });
    const page = await visit(`/orders/${orderId}`);
    await panelOf(page).getByText('too long to show here').waitFor();
    expect(await fieldsIn(page)).toEqual({
      Total: ['Now', '1,250.50', 'Sent again', '1.00'],
      Items: ['Sent again', 'too long to show here; its receipt has the whole text'],
    });
    const link = panelOf(page).locator('.changed-delivery-when');
    expect(await link.getAttribute('href')).toBe(`/accounts/${shop.account.id}/receipts/${receiptId}`);
    await panelOf(page).getByRole('button', { name: 'Use the new version' }).click();
    await panelOf(page).getByText('New version used by').waitFor();
    await page.locator('.history .change-list', { hasText: 'Items 400: Qty' }).waitFor();
    expect((await show(orderId)).order.items).toEqual(many(2));
  });

  test('orders of a selection that are on hold return to the list, and the page says how many and why', async () => {
    const ids = [await begin(), await begin({ ...FIRST, source_order_id: 'R-2' })];
    await choose('hold');
    const page = await visit('/orders');
    await rowOf(page, 'R-2').waitFor();
    // The page does not know about the changed delivery yet.
    await intercept(page, '**/orders/updates*', (route) => route.abort());
    await sendChanged();
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await confirmButton(page.getByRole('toolbar')).click();
    await page.locator('.decision.is-failed', { hasText: 'was not confirmed. It was sent again' }).waitFor();
    await page.locator('.decision', { hasText: /^Confirmed / }).waitFor();
    expect(await page.locator('.decision', { hasText: '2 orders confirmed' }).count()).toBe(0);
    await rowOf(page, 'R-1').getByText('Sent again with changes').waitFor({ state: 'attached' });
    expect(await rowOf(page, 'R-2').count()).toBe(0);
    expect(await Promise.all(ids.map(stateOf))).toEqual(['needs_review', 'confirmed']);
  });

  test('with "ignore" changed deliveries are shown for open, confirmed and rejected orders, and the page says that nothing changed', async () => {
    const [orderId, confirmed, rejected] = [
      await begin(),
      await begin({ ...FIRST, source_order_id: 'R-2' }),
      await begin({ ...FIRST, source_order_id: 'R-3' }),
    ] as [number, number, number];
    await confirm(confirmed);
    await shop.post('/orders/review', { order_ids: [rejected], to: 'rejected', reason: 'twice' });
    for (const source_order_id of ['R-1', 'R-2', 'R-3']) await sendChanged({ ...AGAIN, source_order_id });
    const page = await visit(`/orders/${orderId}`);
    await panelOf(page).getByText('The order has not changed.').waitFor();
    expect(await panelOf(page).getByRole('button').allTextContents()).toEqual([
      'Keep the current version',
      'Use the new version',
    ]);
    await page.keyboard.press('c');
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm the current version' }).click();
    await page.locator('.decision', { hasText: /^Confirmed / }).waitFor();
    await page.getByRole('link', { name: 'Confirmed' }).click();
    await rowOf(page, 'R-2').getByRole('link').click();
    await panelOf(page).getByText('is confirmed and has not changed').waitFor();
    expect(await panelOf(page).getByRole('button').count()).toBe(0);
    await page.getByRole('link', { name: 'Rejected' }).click();
    await rowOf(page, 'R-3').getByRole('link').click();
    await panelOf(page).getByText('is rejected and has not changed').waitFor();
    expect(await stateOf(orderId)).toBe('confirmed');
  });

  test('with "ignore" the key asks which version, and the new one is used and then confirmed', async () => {
    const [orderId] = [await begin(), await begin({ ...FIRST, source_order_id: 'R-2' })];
    await sendChanged();
    const page = await visit('/orders');
    await rowOf(page, 'R-1').getByText('Sent again with changes').waitFor({ state: 'attached' });
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.locator('.order-row.is-current').and(rowOf(page, 'R-1')).waitFor();
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'Which version of' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Compare the versions' }).click();
    await panelOf(page).waitFor();
    await page.keyboard.press('c');
    await page.getByRole('dialog').getByRole('button', { name: 'Use the new version' }).click();
    await panelOf(page).getByText('New version used by').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('.order-facts').getByText('+971 50 765 4321').waitFor();
    expect(await stateOf(orderId)).toBe('needs_review');
    await page.keyboard.press('c');
    await until('it is confirmed', async () => (await stateOf(orderId)) === 'confirmed');
    expect((await show(orderId)).order.customer.phone).toBe('+971507654321');
  });

  test('one key uses the new version, as soon as it can have been read, whatever the setting', async () => {
    const orderId = await begin();
    await sendChanged();
    const page = await openPage();
    const pass = await stopPageClock(page);
    await visitAs(page, portal, shop.person, `/accounts/${shop.account.id}/orders/${orderId}`);
    await panelOf(page).locator('kbd', { hasText: 'V' }).waitFor();
    await expectAccessible(page);
    const decisions: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/resends/')) decisions.push(request.postDataJSON().decision);
    });
    await pass(499);
    await page.keyboard.press('v');
    await afterKeys(page);
    await pass(1);
    // Another version came, which nobody can have read yet.
    await sendChanged({ ...AGAIN, total: '7' });
    await panelOf(page).getByText('Earlier version').waitFor();
    await page.keyboard.press('v');
    await afterKeys(page);
    expect(decisions).toEqual([]);
    await pass(500);
    await page.keyboard.press('v');
    await page.keyboard.press('v');
    await panelOf(page).getByText('New version used by').waitFor();
    await page.locator('.notice', { hasText: 'the order has the values that were sent again' }).waitFor();
    await page.keyboard.press('v');
    await afterKeys(page);
    expect(decisions).toEqual(['accepted']);
    expect((await show(orderId)).order).toMatchObject({ total: '7', customer: { phone: '+971507654321' } });
    expect(await stateOf(orderId)).toBe('needs_review');
    await page.keyboard.press('?');
    await page
      .getByRole('dialog')
      .locator('div', { hasText: /^VUse the new version$/ })
      .waitFor();
    await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck();
    await page.keyboard.press('Escape');
    await sendChanged({ ...AGAIN, total: '8' });
    await panelOf(page).getByRole('button', { name: 'Use the new version' }).waitFor();
    expect(await panelOf(page).locator('kbd').count()).toBe(0);
    await pass(500);
    await page.keyboard.press('v');
    await panelOf(page).getByRole('button', { name: 'Keep the current version' }).click();
    await panelOf(page).getByText('Current version kept by').waitFor();
    expect(decisions).toEqual(['accepted', 'refused']);
  });

  test('with "ignore" the key asks also about an order that was seen before it was sent again', async () => {
    const orderId = await begin();
    const page = await visit(`/orders/${orderId}`);
    await page.locator('.raw pre').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.order-pane').waitFor({ state: 'detached' });
    await sendChanged();
    await rowOf(page, 'R-1').getByText('Sent again with changes').waitFor({ state: 'attached' });
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'Which version of' }).waitFor();
    expect(await stateOf(orderId)).toBe('needs_review');
  });

  test('orders that match but are not loaded are confirmed in their current version only if that is asked for', async () => {
    await begin();
    await sendChanged();
    await insertBulk(stack, shop, 120);
    const page = await visit('/orders');
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('button', { name: 'Select all 121 orders that match' }).click();
    await confirmButton(page.getByRole('toolbar')).click();
    await page.getByRole('dialog', { name: '1 of 121 was sent again with changes' }).waitFor();
  });

  test('orders of a selection that were sent again are confirmed in their current version only if that is asked for', async () => {
    const ids = [await begin(), await begin({ ...FIRST, source_order_id: 'R-2' })];
    await sendChanged();
    const page = await visit('/orders');
    await rowOf(page, 'R-1').getByText('Sent again with changes').waitFor({ state: 'attached' });
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await confirmButton(page.getByRole('toolbar')).click();
    await page.getByRole('dialog', { name: '1 of 2 was sent again with changes' }).waitFor();
    await page.getByRole('button', { name: 'Confirm 1 other order' }).click();
    await rowOf(page, 'R-2').waitFor({ state: 'detached' });
    await until('R-2 is confirmed', async () => (await stateOf(ids[1] as number)) === 'confirmed');
    expect(await stateOf(ids[0] as number)).toBe('needs_review');
  });

  test('a changed delivery that arrives appears in the open list and order', async () => {
    const orderId = await begin();
    await begin({ ...FIRST, source_order_id: 'R-2' });
    await choose('hold');
    const page = await visit(`/orders/${orderId}`);
    await rowOf(page, 'R-2').waitFor();
    await page.locator('.raw pre').waitFor();
    expect(await panelOf(page).count()).toBe(0);
    await page.getByRole('button', { name: 'Edit: Address' }).click();
    await page.locator('.field-editor textarea').fill('Villa 14');
    await sendChanged();
    await sendChanged({ ...AGAIN, source_order_id: 'R-2' });
    await page.locator('.notice', { hasText: 'This order was just sent again with changes' }).waitFor();
    await panelOf(page).waitFor();
    for (const number of ['R-1', 'R-2'])
      await rowOf(page, number).getByText('Sent again with changes').waitFor({ state: 'attached' });
    await panelOf(page).getByRole('button', { name: 'Use the new version' }).click();
    await page.getByText('Save or discard the change of this order first.').waitFor();
    await page.locator('.field-editor textarea').press('Enter');
    await page.locator('.field-editor').waitFor({ state: 'detached' });
    await page.locator('.order-facts').getByText('Villa 14').waitFor();
    await panelOf(page).getByRole('button', { name: 'Use the new version' }).click();
    await panelOf(page).getByText('New version used by').waitFor();
    await page.locator('.order-facts').getByText('Villa 14').waitFor();
  });

  test('a reviewer is told if somebody else decided in the meantime', async () => {
    const orderId = await begin();
    await choose('hold');
    const receiptId = await sendChanged();
    const page = await visit(`/orders/${orderId}`);
    await panelOf(page).waitFor();
    await intercept(
      page,
      `**/orders/${orderId}/resends/*`,
      async (route) => {
        await decide(orderId, receiptId, 'refused');
        await route.continue();
      },
      { times: 1 },
    );
    await panelOf(page).getByRole('button', { name: 'Use the new version' }).press('Enter');
    await page.getByText('Somebody else changed this meanwhile').waitFor();
    await panelOf(page).getByText('Current version kept by').waitFor();
    await page.locator('.changed-delivery-panel:focus').waitFor();
  });

  test('a newer changed delivery gets the focus before an older one is accepted by key, and the focus stays if the portal is unreachable', async () => {
    const orderId = await begin();
    await choose('hold');
    await sendChanged();
    const page = await visit(`/orders/${orderId}`);
    const accept = panelOf(page).getByRole('button', { name: 'Use the new version' });
    const fail = async (route: Route) => {
      await page.locator('button:focus[aria-disabled=true]').waitFor();
      await route.abort();
    };
    await intercept(page, '**/resends/*', fail, { times: 1 });
    await accept.press('Enter');
    await page.getByText('The portal cannot be reached').first().waitFor();
    await page.locator('button:focus', { hasText: 'Use the new version' }).waitFor();
    await sendChanged({ ...FIRST, total: '1' });
    await page.locator('.changed-delivery-panel:focus', { hasText: '1,250.50' }).waitFor();
  });

  test('the setting is changed on the page of settings and recorded, and a receipt shows its changes', async () => {
    await begin();
    const receiptId = await sendChanged();
    const page = await visit('/settings');
    const card = page.getByRole('radiogroup', { name: 'When your shop sends an order again' });
    await card.getByRole('radio', { name: 'Only show it', checked: true }).waitFor();
    await card.getByRole('radio', { name: 'Hold the order' }).check();
    await page.getByText('Saved. It applies from now on.').waitFor();
    await card.getByRole('radio', { name: 'Hold the order', checked: true }).waitFor();
    await expectAccessible(page);
    expect((await shop.get('/resends')).body).toEqual({ resends: 'hold' });
    await page.reload();
    await card.getByRole('radio', { name: 'Hold the order', checked: true }).waitFor();
    await page.getByRole('link', { name: 'Developers' }).click();
    await page.getByRole('link', { name: 'Try it' }).click();
    const senders = page.getByRole('link', { name: 'Guides for senders' });
    expect(await senders.getAttribute('href')).toBe(`${api.url}/docs/senders`);
    await page.goto(`${portal.url}/accounts/${shop.account.id}/log`);
    await page.getByText('Changed what happens to orders').waitFor();
    await page.goto(`${portal.url}/accounts/${shop.account.id}/receipts/${receiptId}`);
    const changes = page.locator('.card', { hasText: 'By itself it changed nothing' });
    await changes.waitFor();
    expect(await changes.locator('ins').allTextContents()).toEqual(['+971 50 765 4321', 'Sharjah']);
    await expectAccessible(page);
  });

  test.each([
    ['light', 'en-GB', 'a desk', {}],
    ['dark', 'ar', 'a phone', PHONE],
  ] as const)(
    'in the %s theme, in %s, on %s the panel meets WCAG 2.2 AA and fits the window',
    async (colorScheme, locale, _place, options) => {
      const long = 'برج السلام، الطابق الثاني عشر، شقة 1204، شارع الشيخ زايد، '.repeat(4);
      const orderId = await begin({ ...FIRST, emirate: 'Atlantis' });
      await begin({ ...FIRST, source_order_id: 'R-2' });
      await choose('hold');
      await sendChanged({ ...AGAIN, address: long, order_number: 'x'.repeat(200) });
      const page = await visit('/orders', { colorScheme, locale, ...options });
      await rowOf(page, 'R-1').locator('.badge').nth(1).waitFor();
      await expectAccessible(page);
      await rowOf(page, 'R-1').getByRole('link').click();
      await panelOf(page).getByRole('button').first().waitFor();
      await expectAccessible(page);
      const overflowOf = (place: string) =>
        page.locator(place).evaluate((element) => element.scrollWidth - element.clientWidth);
      expect([await overflowOf('html'), await overflowOf('.order-content')]).toEqual([0, 0]);
      if (locale === 'ar') {
        await panelOf(page).getByText('لا يمكن تأكيد هذا الطلب').waitFor();
        expect((await fieldsIn(page)).الإمارة).toEqual(['الآن', 'Atlantis', 'أُعيد إرساله', 'الشارقة']);
        await panelOf(page).getByRole('button', { name: 'اعتماد النسخة الجديدة' }).click();
        await panelOf(page).getByText('اعتمد النسخة الجديدة').waitFor();
        expect((await show(orderId)).order.emirate_code).toBe('AE-SH');
        await expectAccessible(page);
      }
    },
  );
});

test.each(['en', 'ar'])('every audit action about resends has a translation in %s', (language) => {
  const textsOf = (name: string) => {
    const path = `../../apps/portal/page/src/locales/${language}/${name}.json`;
    return JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'));
  };
  const actions = ['resend_accepted', 'resend_refused', 'resends_hold_changed'];
  expect(actions.filter((action) => !textsOf('audit').action[action])).toEqual([]);
  expect(actions.slice(0, 2).filter((action) => !textsOf('review').history[action])).toEqual([]);
});
