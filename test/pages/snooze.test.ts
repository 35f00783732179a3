import { expect, test } from '@jest/globals';
import { expectAccessible, intercept, openPageAs } from '../harness/browser.ts';
import { createPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { numbered, paneOf, type ReviewedShop, rowOf, useReviewList } from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, api, portal, open, review, openList } = useReviewList();

async function openDialog(page: Awaited<ReturnType<typeof review>>, number: string) {
  await rowOf(page, number).getByRole('link').click();
  await paneOf(page, number).waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('button', { name: 'Snooze…' }).click();
  return page.getByRole('dialog', { name: `Snooze order ${number}` });
}

/** Ends all snoozes of an account, as if their time were over. */
const pass = ({ account }: ReviewedShop) =>
  stack.database
    .knex('order_snoozes')
    .where({ account_id: account.id })
    .update({ until: stack.database.knex.fn.now() });

describe('a snoozed order', () => {
  test('leaves the list of everybody for the next one, is listed above it, and is back by itself with a mark', async () => {
    const { shop, page } = await openList(numbered('A-1'), numbered('A-2'), numbered('A-3'));
    const other = await openPageAs(
      portal,
      await createPerson(stack, shop.account.id),
      `/accounts/${shop.account.id}/orders`,
    );
    await rowOf(other, 'A-2').waitFor();
    const dialog = await openDialog(page, 'A-2');
    await expectAccessible(page);
    await dialog.getByRole('radio', { name: '30 minutes' }).check();
    await dialog.getByRole('radio', { name: 'Until tomorrow, 09:00' }).check();
    await dialog.getByLabel('Reason (optional)').fill('Waits for the address');
    await dialog.getByRole('button', { name: 'Snooze' }).click();
    await page.getByText(/^Order A-2 is snoozed until \d+ \w+, 09:00$/).waitFor();
    await paneOf(page, 'A-1').waitFor();
    for (const one of [page, other]) {
      await rowOf(one, 'A-2').waitFor({ state: 'detached' });
      await rowOf(one, 'A-3').waitFor();
    }
    await other.getByRole('button', { name: /^1 snoozed · next \d+ \w+, 09:00$/ }).click();
    await expectAccessible(other);
    await other.locator('.snoozed-orders').getByRole('link', { name: 'A-2' }).click();
    await paneOf(other, 'A-2').getByText('Waits for the address').waitFor();
    await expectAccessible(other);
    await pass(shop);
    for (const one of [page, other])
      await rowOf(one, 'A-2').getByText('Back from snooze').waitFor({ state: 'attached' });
    await page.locator('.snoozed-orders').waitFor({ state: 'detached' });
  });

  test('is back at once when it is sent again with changes, or taken back', async () => {
    const { shop, page } = await openList(numbered('B-1'), numbered('B-2'));
    for (const number of ['B-1', 'B-2']) {
      const dialog = await openDialog(page, number);
      await dialog.getByRole('button', { name: 'Snooze' }).click();
      await rowOf(page, number).waitFor({ state: 'detached' });
    }
    await api.process(shop.account, numbered('B-1', { total: '99' }));
    await rowOf(page, 'B-1').waitFor();
    await page.getByRole('button', { name: /^1 snoozed · next / }).click();
    await page.locator('.snoozed-orders').getByRole('link', { name: 'B-2' }).click();
    await paneOf(page, 'B-2').getByRole('button', { name: 'End the snooze' }).click();
    await rowOf(page, 'B-2').waitFor();
    await paneOf(page, 'B-2').getByText('Back from snooze').waitFor();
  });

  test('that a page loads as snoozed appears in its list when it is back, and is found by a search before', async () => {
    const { shop, page } = await openList(numbered('C-1'), numbered('C-2'));
    const dialog = await openDialog(page, 'C-1');
    await dialog.getByRole('button', { name: 'Snooze' }).click();
    await rowOf(page, 'C-1').waitFor({ state: 'detached' });
    const other = await review(shop);
    await rowOf(other, 'C-2').waitFor();
    await other.getByRole('button', { name: /^1 snoozed/ }).waitFor();
    expect(await rowOf(other, 'C-1').count()).toBe(0);
    await page.getByRole('searchbox').fill('C-1');
    await rowOf(page, 'C-1')
      .getByText(/^Snoozed until/)
      .waitFor({ state: 'attached' });
    await pass(shop);
    await rowOf(other, 'C-1').waitFor();
  });

  test('that could not be snoozed stays, with what was typed', async () => {
    const shop = await open(numbered('D-1'));
    const page = await review(shop, { locale: 'en-GB' });
    const dialog = await openDialog(page, 'D-1');
    await intercept(page, '**/snooze', (route) => route.abort());
    await dialog.getByLabel('Reason (optional)').fill('Called');
    await dialog.getByRole('button', { name: 'Snooze' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Reason (optional)').inputValue()).toBe('Called');
    await page.unroute('**/snooze');
    // Twice, it is snoozed once.
    await dialog.getByRole('button', { name: 'Snooze' }).dblclick();
    await page.getByText('Order D-1 is snoozed until').waitFor();
    const actions = await stack.database
      .knex('audit_events')
      .where({ action: 'order_snoozed', account_id: shop.account.id });
    expect(actions).toHaveLength(1);
  });
});

describe('a message to the customer', () => {
  test('is filled in either language, is edited, and opens in WhatsApp or as SMS', async () => {
    const { shop, page } = await openList(numbered('E-1'));
    const [name] = await stack.database.knex('accounts').where({ account_id: shop.account.id }).pluck('name');
    await rowOf(page, 'E-1').getByRole('link').click();
    await paneOf(page, 'E-1').getByRole('button', { name: 'Message the customer' }).click();
    const dialog = page.getByRole('dialog', { name: 'Message the customer' });
    const text = dialog.getByLabel('Message', { exact: true });
    await text.waitFor();
    await expectAccessible(page);
    expect(await text.inputValue()).toMatch(`Hello Fatima, this is ${name} about your order E-1. We cannot find`);
    await dialog.getByRole('combobox').selectOption('Payment to be confirmed');
    await dialog.getByRole('radio', { name: 'العربية' }).check();
    expect(await text.inputValue()).toMatch(`مرحبًا Fatima، معك ${name} بخصوص طلبك E-1.`);
    await text.fill('Where are you? & when');
    const address = async (link: string) => dialog.getByRole('link', { name: link }).getAttribute('href');
    const encoded = 'Where%20are%20you%3F%20%26%20when';
    expect(await address('Open in WhatsApp')).toBe(`https://wa.me/971501234567?text=${encoded}`);
    expect(await address('Open as SMS')).toBe(`sms:+971501234567?&body=${encoded}`);
    // What was typed stays when another text is looked at.
    await dialog.getByRole('radio', { name: 'English' }).check();
    await dialog.getByRole('radio', { name: 'العربية' }).check();
    expect(await text.inputValue()).toBe('Where are you? & when');
  });

  test('is offered while an order is snoozed, in Arabic too, and to nobody without a number', async () => {
    const shop = await open(numbered('F-1', { customer: { name: 'Omar' } }));
    const page = await review(shop, { locale: 'ar' });
    await rowOf(page, 'F-1').getByRole('link').click();
    await paneOf(page, 'F-1').waitFor();
    expect(await page.getByRole('button', { name: 'رسالة إلى العميل' }).count()).toBe(0);
    await page.getByRole('button', { name: 'إجراءات أخرى' }).click();
    await page.getByRole('button', { name: 'تأجيل…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'رسالة إلى العميل' }).click();
    await dialog.getByRole('button', { name: 'نسخ الرسالة' }).waitFor();
    expect(await dialog.getByRole('link').count()).toBe(0);
    await expectAccessible(page);
  });
});
