import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, intercept } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import { factOf, inputOf, numbered, rowOf, useOpenOrder } from '../harness/review-page.ts';

const ORDER = numbered('T-1', { total: '6750.50' });

const { shop, begin: send, orderOf, visit, colleague } = useOpenOrder();

const begin = (order: object = ORDER): Promise<number> => send(order);

const edit = (page: Page, field: string) => page.getByRole('button', { name: `Edit: ${field}`, exact: true }).click();
const unsaved = (page: Page) => page.locator('.draft-note');

describeWith('chromium')('a value that is typed', () => {
  test.each([
    ['Total', '6,75O', 'This is not an amount'],
    ['Phone', 'abc', 'This is not a phone number'],
  ])(
    '%s "%s" is refused below its input and stays there, and the stored value is unchanged',
    async (field, typed, why) => {
      const orderId = await begin();
      const before = await orderOf(orderId);
      const page = await visit(orderId);
      await edit(page, field);
      await inputOf(page).fill(typed);
      await inputOf(page).press('Enter');
      await page.locator('.field-editor [role=alert]', { hasText: why }).waitFor();
      expect(await inputOf(page).inputValue()).toBe(typed);
      await page.locator('.field-editor :focus[aria-invalid=true]').waitFor();
      await expectAccessible(page);
      expect(await orderOf(orderId)).toEqual(before);
    },
  );

  test('"abc" as a quantity is refused at this input, and the item is unchanged', async () => {
    const orderId = await begin();
    const page = await visit(orderId);
    await edit(page, 'Karak');
    await page.getByLabel('Qty', { exact: true }).fill('abc');
    await page.keyboard.press('Enter');
    await page.locator('.item-editor [role=alert]', { hasText: 'whole number' }).waitFor();
    await page.locator('.item-editor :focus[aria-invalid=true][aria-label=Qty]').waitFor();
    expect((await orderOf(orderId)).items).toEqual(ORDER.items);
  });

  test('is saved with a notice that names it and takes it back, also when the field was emptied', async () => {
    const orderId = await begin();
    const page = await visit(orderId);
    await edit(page, 'Total');
    await inputOf(page).fill('6750');
    await inputOf(page).press('Enter');
    await page.locator('.notice', { hasText: 'Total changed to \u20686,750.00' }).hover();
    await page.getByRole('button', { name: 'Undo' }).click();
    await factOf(page, 'Total').locator('.fact-value').getByText('6,750.50').waitFor();
    await edit(page, 'Address');
    await inputOf(page).fill('');
    await inputOf(page).press('Enter');
    await page.locator('.notice', { hasText: 'Address emptied' }).getByRole('button', { name: 'Undo' }).click();
    await factOf(page, 'Address').locator('.fact-value').getByText('Villa 12, Street 4').waitFor();
    expect(await orderOf(orderId)).toMatchObject({ total: '6750.50', address: 'Villa 12, Street 4' });
  });

  test('does not overwrite the value of another reviewer: both are shown, and the reviewer chooses', async () => {
    const orderId = await begin();
    const other = await colleague();
    const page = await visit(orderId);
    const collide = async (theirs: string) => {
      await edit(page, 'Address');
      await inputOf(page).fill('Villa 13');
      await other.patch(`/orders/${orderId}`, { edits: { '/address': theirs } });
      await inputOf(page).press('Enter');
      await page.locator('.field-editor [role=alert]', { hasText: theirs }).waitFor();
      expect(await inputOf(page).inputValue()).toBe('Villa 13');
      expect((await orderOf(orderId)).address).toBe(theirs);
    };
    await collide('Tower 7');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Use theirs' }).click();
    await factOf(page, 'Address').locator('.fact-value').getByText('Tower 7').waitFor();
    await collide('Tower 8');
    await page.getByRole('button', { name: 'Use mine' }).click();
    await factOf(page, 'Address').locator('.fact-value').getByText('Villa 13').waitFor();
    expect((await orderOf(orderId)).address).toBe('Villa 13');
  });

  test('stays in its input with the reason if it cannot be saved, and is saved by the next attempt', async () => {
    const orderId = await begin();
    const page = await visit(orderId);
    await intercept(page, `**/orders/${orderId}`, (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    );
    await edit(page, 'Address');
    await inputOf(page).fill('Villa 13');
    await inputOf(page).press('Enter');
    await page.locator('.field-editor [role=alert]', { hasText: 'cannot be reached' }).waitFor();
    expect(await inputOf(page).inputValue()).toBe('Villa 13');
    await page.unroute(`**/orders/${orderId}`);
    await page.keyboard.press('Enter');
    await factOf(page, 'Address').locator('.fact-value').getByText('Villa 13').waitFor();
    expect(await page.locator('.field-editor').count()).toBe(0);
  });

  test('is kept when another order or page is opened or the page is reloaded, which asks first', async () => {
    const [other, orderId] = [await begin({ ...ORDER, source_order_id: 'T-2' }), await begin()];
    const page = await visit(orderId);
    await edit(page, 'Address');
    await inputOf(page).fill('Villa 13');
    await rowOf(page, 'T-2').getByRole('link').click();
    await page.getByRole('heading', { name: 'T-2' }).waitFor();
    expect(await page.getByText('Villa 13').count()).toBe(0);
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await page.locator('.order-pane').waitFor({ state: 'detached' });
    await page.goBack();
    await rowOf(page, 'T-1').getByRole('link').click();
    await unsaved(page).getByText('Villa 13').waitFor();
    await expectAccessible(page);
    // An order with an unsaved change is not confirmed.
    await page
      .locator('.order-pane')
      .getByRole('button', { name: /^Confirm/ })
      .click();
    await page.getByText('Save or discard the change of this order first').waitFor();
    const asked = page.waitForEvent('dialog');
    const [dialog] = await Promise.all([asked, page.evaluate('setTimeout(() => location.reload())')]);
    expect(dialog.type()).toBe('beforeunload');
    await dialog.accept();
    await unsaved(page).getByText('Villa 13').waitFor();
    await unsaved(page).getByRole('button', { name: 'Continue' }).click();
    expect(await inputOf(page).inputValue()).toBe('Villa 13');
    await inputOf(page).press('Enter');
    await factOf(page, 'Address').locator('.fact-value').getByText('Villa 13').waitFor();
    await unsaved(page).waitFor({ state: 'detached' });
    expect((await orderOf(orderId)).address).toBe('Villa 13');
    expect((await orderOf(other)).address).toBe(ORDER.address);
  });

  test('is kept when the session ends', async () => {
    const orderId = await begin();
    const page = await visit(orderId);
    await edit(page, 'Address');
    await inputOf(page).fill('Villa 13');
    const content = page.locator('.order-content');
    await content.evaluate((element) => element.scrollTo(0, 40));
    await page.context().clearCookies();
    await inputOf(page).press('Enter');
    await page.locator('input[type="password"]').waitFor();
    await page.locator('input[type="email"]').fill(shop.person.email);
    await page.locator('input[type="password"]').fill(shop.person.password);
    await page.keyboard.press('Enter');
    await page.locator('input[type="password"]').waitFor({ state: 'detached' });
    const open = inputOf(page).or(unsaved(page).getByRole('button', { name: 'Continue' }));
    await open.waitFor();
    if ((await inputOf(page).count()) === 0) await open.click();
    expect(await inputOf(page).inputValue()).toBe('Villa 13');
    expect(await content.evaluate((element) => element.scrollTop)).toBe(40);
  });
});

describeWith('chromium')('after a sign-out', () => {
  test('nothing that was typed is left in the browser', async () => {
    const orderId = await begin();
    const page = await visit(orderId);
    await edit(page, 'Address');
    await inputOf(page).fill('Villa 13');
    await inputOf(page).blur();
    await page.locator('.user-button').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('input[type="password"]').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });
});

describeWith('chromium')('the open order', () => {
  test('says that it is not updated, and who decided it meanwhile', async () => {
    const orderId = await begin();
    const other = await colleague();
    const page = await visit(orderId);
    await intercept(page, `**/orders/${orderId}`, (route) => route.abort());
    await page.locator('.order-pane').getByText('Not updated since').waitFor();
    await expectAccessible(page);
    await other.post('/orders/review', { order_ids: [orderId], to: 'rejected', reason: 'twice' });
    await page.unroute(`**/orders/${orderId}`);
    await page.locator('.order-pane').getByText(`Rejected by ${other.person.email}`).waitFor();
    await page.locator('.order-pane').getByText('Not updated since').waitFor({ state: 'detached' });
    expect(
      await page
        .locator('.order-pane')
        .getByRole('button', { name: /^Confirm/ })
        .count(),
    ).toBe(0);
  });

  test('is named by its decisions', async () => {
    const orderId = await begin();
    const page = await visit(orderId);
    const pane = page.locator('.order-pane');
    await pane.getByRole('button', { name: 'Confirm order T-1', exact: true }).waitFor();
    await pane.getByRole('button', { name: 'Reject order T-1', exact: true }).click();
    await page.getByRole('dialog', { name: 'Reject order T-1' }).waitFor();
  });

  test.each(['en-GB', 'ar'])(
    'in %s, a changed delivery that waits is explained in the words of its buttons, which reject nothing',
    async (locale) => {
      const orderId = await begin();
      await shop.client.put(`/accounts/${shop.account.id}/resends`, { resends: 'hold' });
      await begin({ ...ORDER, total: '1' });
      const path = `../../apps/portal/page/src/locales/${locale.slice(0, 2)}/review.json`;
      const texts = JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'));
      const page = await visit(orderId, { locale });
      const panel = page.locator('.changed-delivery-panel');
      await panel.getByRole('button').first().waitFor();
      const labels = await panel.getByRole('button').allTextContents();
      const about = await panel.locator('.changed-delivery-about').textContent();
      expect(labels.filter((label) => about?.includes(label))).toEqual(labels);
      expect(labels.filter((label) => label.includes(texts.action.reject))).toEqual([]);
      expect(about).not.toContain(texts.action.reject);
    },
  );
});
