import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, intercept } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import { factOf, inputOf, useOpenOrder } from '../harness/review-page.ts';

const ORDER = {
  source_order_id: 'P-1',
  customer: { name: 'Fatima', phone: '050 123 4567' },
  address: 'Villa 12, Street 4',
  emirate: 'Dubai',
  items: [
    { name: 'Karak', quantity: 2, sku: 'K-1' },
    { name: 'Samosa', quantity: 4 },
  ],
  total: '45.00',
};
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const { shop, begin: send, orderOf, visit, colleague } = useOpenOrder();

const begin = (order: object = ORDER): Promise<number> => send(order);
const numbered = (source_order_id: string, more: object = {}) => ({ ...ORDER, source_order_id, ...more });
const stateOf = async (orderId: number) => (await orderOf(orderId)).review_state;

const paneOf = (page: Page) => page.locator('.order-pane');

describeWith('chromium')('the open order', () => {
  test('says what is missing for the delivery, and each reason opens the editor of its field', async () => {
    const orderId = await begin({ source_order_id: 'P-1', customer: { name: 'Fatima' } });
    const page = await visit(orderId);
    const box = page.locator('.blockers');
    await box
      .getByText(
        'This order cannot be delivered: no phone number, no address, no emirate, no items with a name or SKU.',
      )
      .waitFor();
    expect(await page.locator('.missing-blocks').count()).toBe(4);
    await expectAccessible(page);
    const fill = async (button: string, value: string) => {
      await box.getByRole('button', { name: button }).click();
      await page.locator('.field-editor :focus').waitFor();
      await page.keyboard.type(value);
      await page.keyboard.press('Enter');
      await box.getByRole('button', { name: button }).waitFor({ state: 'detached' });
    };
    await fill('Enter the phone number', '050 765 4321');
    await fill('Enter the address', 'Villa 9');
    await fill('Choose the emirate', 'Shar');
    await box.getByRole('button', { name: 'Add an item' }).click();
    await page.keyboard.type('3');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Karak');
    await page.keyboard.press('Enter');
    await box.waitFor({ state: 'detached' });
    expect(await orderOf(orderId)).toMatchObject({
      customer: { phone: '+971507654321' },
      address: 'Villa 9',
      emirate_code: 'AE-SH',
      items: [{ name: 'Karak', quantity: 3, sku: null }],
      blockers: [],
    });
  });

  test('says at a field who changed it and what it was, and shows marks of direction in what was received', async () => {
    const orderId = await begin({
      ...ORDER,
      customer: { ...ORDER.customer, name: 'Fatima \u202eevil' },
      area: 'Mirdif',
    });
    const edits = { '/customer/name': 'Fatima', '/delivery_instructions': 'Ring twice', '/items/0/quantity': 3 };
    expect((await shop.patch(`/orders/${orderId}`, { edits })).status).toBe(200);
    const page = await visit(orderId);
    await factOf(page, 'Customer')
      .getByText(/^Changed from .*evil.* by .+/)
      .waitFor();
    await factOf(page, 'Instructions')
      .getByText(/^Filled in by .+/)
      .waitFor();
    await paneOf(page)
      .getByText(/^Changed by .+/)
      .waitFor();
    expect(
      await factOf(page, 'Area')
        .getByText(/Changed|Filled/)
        .count(),
    ).toBe(0);
    await page.locator('pre', { hasText: 'Fatima \\u202eevil' }).waitFor();
    await expectAccessible(page);
  });

  test('with missing fields but without warnings, it is edited from the first of them on', async () => {
    const orderId = await begin(numbered('P-1', { address: undefined }));
    const page = await visit(orderId);
    await page.keyboard.press('e');
    await page.locator('.field-editor textarea:focus').waitFor();
    await page.keyboard.type('Villa 9');
    await page.keyboard.press('Enter');
    await until('it is stored', async () => (await orderOf(orderId)).address === 'Villa 9');
  });

  test('shows corrections only on request, and warnings to check at their fields', async () => {
    const orderId = await begin(
      numbered('P-1', { emirate: 'Sharjha', customer: { name: 'Fatima', phone: '050 123 456' } }),
    );
    const page = await visit(orderId);
    await factOf(page, 'Phone').locator('.warning-note.is-check').waitFor();
    expect(await factOf(page, 'Emirate').locator('.warning-note').count()).toBe(0);
    const note = page.locator('.corrections .warning-note', { hasText: 'Misspelled' });
    expect(await note.isVisible()).toBe(false);
    await page.locator('.raw-mark', { hasText: 'Sharjha' }).click();
    await note.waitFor();
    expect(await page.locator(':focus').textContent()).toContain('Misspelled');
    await expectAccessible(page);
  });

  test('shows the values of unknown fields, and one becomes part of the delivery instructions', async () => {
    const orderId = await begin(
      numbered('P-1', {
        delivery_instructions: 'Knock twice',
        notes: 'Two deliveries: 10:00 and 15:00',
        'a/b~c': { wrap: true, cards: ['red', 'blue'] },
        long: 'word '.repeat(100),
      }),
    );
    const page = await visit(orderId);
    const fieldOf = (name: string) => page.locator('.unknown-fields > li', { hasText: name });
    expect(await fieldOf('a/b~c').locator('.long-text').textContent()).toBe('wrap: true\ncards: red, blue');
    const long = fieldOf('long').locator('.long-text');
    expect((await long.textContent())?.length).toBeLessThan(210);
    await fieldOf('long').getByRole('button', { name: 'Show all' }).click();
    expect(await long.textContent()).toBe('word '.repeat(100));
    await fieldOf('notes').getByRole('button', { name: 'Add to the instructions' }).click();
    await fieldOf('notes').getByText('In the instructions').waitFor();
    expect((await orderOf(orderId)).delivery_instructions).toBe('Knock twice\nTwo deliveries: 10:00 and 15:00');
    await page.locator('.notice').getByRole('button', { name: 'Undo' }).click();
    await fieldOf('notes').getByRole('button', { name: 'Add to the instructions' }).waitFor();
    expect((await orderOf(orderId)).delivery_instructions).toBe('Knock twice');
  });

  test('names likely duplicates and opens them', async () => {
    const other = await begin(numbered('P-2', { total: '46.00' }));
    await shop.post('/orders/review', { order_ids: [other], to: 'confirmed' });
    const page = await visit(await begin());
    const similar = page.getByRole('region', { name: 'Likely duplicate' });
    await similar.getByText(/P-2 · Fatima · 46\.00 AED · .* · confirmed/).waitFor();
    await expectAccessible(page);
    await similar.getByRole('link', { name: 'P-2' }).click();
    await page.getByRole('heading', { name: 'P-2' }).waitFor();
    await paneOf(page).getByText(`Confirmed by ${shop.person.email}`).waitFor();
  });

  test("sums up the customer's earlier orders in a line, which opens them with the reason of a rejection", async () => {
    const [rejected, confirmed] = [await begin(numbered('P-2')), await begin(numbered('P-3', { total: '1300' }))];
    await shop.post('/orders/review', { order_ids: [rejected], to: 'rejected', reason: 'Rejected at the door' });
    await shop.post('/orders/review', { order_ids: [confirmed], to: 'confirmed' });
    const page = await visit(await begin());
    const line = page.locator('.earlier summary');
    const summary = /^2 earlier orders · last .*20\d\d · 1,300\.00 AED · 1 rejected$/;
    await page.locator('.earlier summary', { hasText: summary }).waitFor();
    const list = page.getByRole('list', { name: 'Earlier orders of this phone number' });
    expect(await list.count()).toBe(0);
    await line.press('Enter');
    await list.getByText(/^P-2 · .*20\d\d · 45\.00 AED · rejected · Rejected at the door$/).waitFor();
    await expectAccessible(page);
    await list.getByRole('link', { name: 'P-3' }).click();
    await page.getByRole('heading', { name: 'P-3' }).waitFor();
    await page.locator('.earlier summary', { hasText: /^1 earlier order · / }).waitFor();
    expect(await list.count()).toBe(0);
  });

  test('gets and loses items, each undone with one click', async () => {
    const orderId = await begin();
    const undo = (page: Page, notice: string) =>
      page.locator('.notice', { hasText: notice }).getByRole('button', { name: 'Undo' }).click();
    const page = await visit(orderId);
    const namesAre = (...names: string[]) =>
      until(`the items are ${names}`, async () => {
        const shown = await page.locator('.items tbody tr td:nth-child(2)').allTextContents();
        return shown.join() === names.join();
      });
    await page.getByRole('button', { name: 'Remove: Karak' }).click();
    await namesAre('Samosa');
    await undo(page, 'Item removed: \u2068Karak');
    await namesAre('Karak', 'Samosa');
    await page.getByRole('button', { name: 'Add an item' }).click();
    await page.getByLabel('Qty').fill('abc');
    await page.getByLabel('Item', { exact: true }).fill('Water');
    await page.keyboard.press('Enter');
    await page.locator('.item-editor [role=alert]').waitFor();
    await page.getByLabel('Qty').fill('6');
    await page.keyboard.press('Enter');
    await namesAre('Karak', 'Samosa', 'Water');
    await undo(page, 'Item added: \u2068Water');
    await namesAre('Karak', 'Samosa');
    expect((await orderOf(orderId)).items).toEqual([ORDER.items[0], { ...ORDER.items[1], sku: null }]);
  });

  test('offers to copy, call, write and find the place, without a request to another host', async () => {
    const orderId = await begin();
    const page = await visit(orderId, { permissions: ['clipboard-read', 'clipboard-write'] });
    const pane = paneOf(page);
    const hrefOf = (name: string) => pane.getByRole('link', { name }).getAttribute('href');
    expect(await pane.locator('.phone').getAttribute('href')).toBe('tel:+971501234567');
    expect(await hrefOf('Write on WhatsApp')).toBe('https://wa.me/971501234567');
    expect(await hrefOf('Show on a map')).toBe(
      'https://www.google.com/maps/search/?api=1&query=Villa+12%2C+Street+4%2C+Dubai',
    );
    for (const name of ['Write on WhatsApp', 'Show on a map'])
      expect(await pane.getByRole('link', { name }).getAttribute('rel')).toBe('noopener noreferrer');
    const copied = async (name: string) => {
      await pane.getByRole('button', { name, exact: true }).click();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    expect(await copied('Copy the phone number')).toBe('+971501234567');
    expect(await copied('Copy the address')).toBe('Villa 12, Street 4, Dubai');
    expect(await copied('Copy the order number')).toBe('P-1');
    expect(await copied('Copy the order as text')).toContain('Total: 45.00 AED\nAddress: Villa 12, Street 4');
    await pane.getByRole('link', { name: 'Orders of +971 50 123 4567' }).click();
    expect(new URL(page.url()).searchParams.get('q')).toBe('+971501234567');
    await page.locator('.order-row', { hasText: 'P-1' }).waitFor();
  });

  test('names the other reviewers who have it open', async () => {
    const orderId = await begin();
    const { person, ...other } = await colleague();
    const page = await visit(orderId);
    const seen = page.locator('.order-viewers', { hasText: `Also viewing: \u2068${person.name}\u2069` });
    await until('it is shown', async () => {
      await other.get(`/orders/updates?after=0&open=${orderId}`);
      return (await seen.count()) === 1;
    });
    await expectAccessible(page);
  });

  test('has notes, and one that cannot be saved is kept', async () => {
    const orderId = await begin();
    const page = await visit(orderId);
    const note = page.getByLabel('Add a note');
    await note.fill('She wants it\nafter five');
    await intercept(page, '**/notes', (route) => route.abort(), { times: 1 });
    await page.keyboard.press('Control+Enter');
    await page.locator('.notes [role=alert]').waitFor();
    await page.reload();
    expect(await note.inputValue()).toBe('She wants it\nafter five');
    await note.press('Control+Enter');
    await page.locator('.notes li', { hasText: 'after five' }).getByText(shop.person.email).waitFor();
    expect(await note.inputValue()).toBe('');
    await expectAccessible(page);
  });

  test('is rejected with a digit key and Enter, also with an Arabic keyboard', async () => {
    const orderId = await begin();
    const page = await visit(orderId);
    await page.getByRole('button', { name: 'Reject order P-1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reject order P-1' });
    await dialog.locator('input:focus').waitFor();
    await dialog.locator('input:focus').dispatchEvent('keydown', { key: '٢', code: 'Digit2', bubbles: true });
    await dialog.locator('input[value=duplicate]:checked').waitFor();
    await page.keyboard.press('3');
    await dialog.locator('input[value=unreachable]:checked').waitFor();
    await page.keyboard.press('6');
    await page.keyboard.type('3 calls');
    await page.keyboard.press('Enter');
    await until('it is rejected', async () => (await stateOf(orderId)) === 'rejected');
    const { review } = (await shop.get(`/orders/${orderId}`)).body;
    expect(review.reason).toBe('3 calls');
  });

  test('offers the fields that are empty, and the focus returns to the offer', async () => {
    const page = await visit(await begin());
    await page.getByRole('button', { name: 'Add Area' }).press('Enter');
    await inputOf(page).press('Escape');
    await page.locator(':focus', { hasText: 'Add Area' }).waitFor();
    await page.keyboard.press('Enter');
    await inputOf(page).fill('Marina');
    await page.keyboard.press('Enter');
    await factOf(page, 'Area').locator('.fact-value').getByText('Marina').waitFor();
    await factOf(page, 'Area').locator('.edit-button:focus').waitFor();
  });
});

const NARROW_AND_WIDE = [
  [320, 'en-GB', 'dark'],
  [1600, 'ar', 'dark'],
] as const;
const BETWEEN = [
  [768, 'ar', 'light'],
  [1024, 'en-GB', 'light'],
] as const;
const SIZES = process.env.TEST_FULL === 'on' ? [...NARROW_AND_WIDE, ...BETWEEN] : NARROW_AND_WIDE;

describeWith('chromium').each(SIZES)('%i px wide, in %s, %s', (width, locale, colorScheme) => {
  test('an order with everything to note fits, and so do its editors', async () => {
    await begin(numbered('P-2'));
    const orderId = await begin(
      numbered('P-1', { emirate: 'Atlantis', items: [{ name: 'Karak', quantity: 'two' }], notes: 'After five' }),
    );
    await shop.post(`/orders/${orderId}/notes`, { text: 'x'.repeat(200) });
    const page = await visit(orderId, { viewport: { width, height: 900 }, locale, colorScheme });
    const check = async () => {
      for (const place of ['html', '.order-content'])
        expect(await page.locator(place).evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0);
      await expectAccessible(page);
    };
    for (const part of ['.blockers', '.similar', '.notes li', '.unknown-fields li']) await page.locator(part).waitFor();
    await check();
    await page.locator('.facts-key .fact').last().locator('.edit-button').click();
    await inputOf(page).fill('6,75O');
    await page.keyboard.press('Enter');
    await page.locator('.field-editor [role=alert]').waitFor();
    await check();
    await page.locator('.items .edit-button').first().click();
    await page.locator('.draft-note').waitFor();
    await check();
  });
});

describeWith('chromium')('on a phone', () => {
  test.each(['en-GB', 'ar'])(
    'in %s, decisions and steps to the next order are at the bottom, in reach of a thumb',
    async (locale) => {
      const [older, newer] = [await begin(numbered('P-2')), await begin()];
      const page = await visit(newer, { ...PHONE, locale });
      const bar = page.locator('.order-bar');
      const buttons = bar.getByRole('button');
      // The steps appear once the list is loaded.
      await buttons.nth(3).waitFor();
      expect(await buttons.count()).toBe(4);
      for (const button of await buttons.all()) {
        const { y = 0, height = 0 } = (await button.boundingBox()) ?? {};
        expect(y).toBeGreaterThan(700);
        expect(height).toBeGreaterThanOrEqual(48);
        expect((await button.textContent())?.trim()).not.toBe('');
      }
      await expectAccessible(page);
      await buttons.last().tap();
      await page.getByRole('heading', { name: 'P-2' }).waitFor();
      await buttons.nth(2).tap();
      await until('it is confirmed', async () => (await stateOf(older)) === 'confirmed');
      expect(await stateOf(newer)).toBe('needs_review');
    },
  );
});
