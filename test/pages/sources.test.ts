import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { setMapping } from '@orders/database/sources/change-sources.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { SOURCE_PRESETS } from '@orders/domain/sources/settings.ts';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, openPageAs } from '../harness/browser.ts';
import { createPerson, signIn } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { createTestSource, deliver, shopifyHeaders, wooCommerceHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, portal } = useStack({ intake: { BASE_PATH: '/api' }, worker: true, portal: true });

async function holder() {
  const account = await stack.account();
  const person = await createPerson(stack, account.id);
  return { account, person, path: `/accounts/${account.id}/shops` };
}

/** Sends a body to the URL that the page shows. */
function deliverTo(url: string, body: string, headers: Record<string, string>) {
  return deliver(api, { source_id: url.split('/').at(-1) as string }, body, headers);
}

const shownUrl = async (page: Page) => (await page.locator('.source-url code').first().textContent()) as string;
const resultOf = (page: Page) => page.locator('.mapped-order');

const SHOPIFY_BODY = `{
  "id": 820982911946154508,
  "name": "#1001",
  "shipping_address": {"name": "Mariam", "phone": "0501234567", "address1": "Villa 4", "city": "Dubai", "province": "Dubai"},
  "line_items": [{"name": "Lamp", "quantity": 2, "current_quantity": 2, "sku": "L-1"}],
  "current_total_price": "120.00",
  "currency": "AED"
}`;

describeWith('chromium')('in a browser', () => {
  test('a shop on Shopify is connected in three steps, from the empty list to the order', async () => {
    const { person, path } = await holder();
    const page = await openPageAs(portal, person, path);
    await page.getByText('No shop is connected yet').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Connect a platform' }).click();
    await expectAccessible(page);
    await page.getByLabel('Name', { exact: true }).fill('My Shopify');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'What to do in Shopify' }).waitFor();
    const url = await shownUrl(page);
    expect(url).toMatch(`${api.url}/ingest/sources/src_`);
    expect(await page.content()).not.toContain('oss_');
    await expectAccessible(page);
    await page.getByText('Order ids begin with my-shopify:').waitFor();
    await page.getByRole('button', { name: 'Change the prefix of My Shopify' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Prefix').fill('My shop');
    await dialog.getByRole('button', { name: 'Use this prefix' }).click();
    await dialog.getByText('A prefix has up to 30 small letters').waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Prefix').fill('lamps');
    await dialog.getByRole('button', { name: 'Use this prefix' }).click();
    await page.getByText('Order ids begin with lamps:').waitFor();
    const secret = '5f3c0a8d9e7b6c5d4e3f2a1b0c9d8e7f';
    const next = page.getByRole('button', { name: 'Next: send a test' });
    await next.click();
    await page.getByText('Without it, every delivery is rejected.').waitFor();
    await page.getByRole('button', { name: 'Go on without the secret' }).waitFor();
    await expectAccessible(page);
    const field = page.getByLabel('Secret from the platform');
    await field.fill(secret);
    // What cannot be stored stays in the field.
    await page.route('**/secret', (route) => route.abort());
    await next.click();
    await page.getByText('The portal cannot be reached').waitFor();
    expect(await field.inputValue()).toBe(secret);
    await page.unroute('**/secret');
    await next.click();
    await page.getByText('Waiting for the first delivery').waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(await deliverTo(url, SHOPIFY_BODY, shopifyHeaders(SHOPIFY_BODY, 'orders/create', 'wrong'))).toMatchObject({
      status: 401,
    });
    await page.getByText('1 delivery was rejected').waitFor();
    await expectAccessible(page);
    expect(await deliverTo(url, SHOPIFY_BODY, shopifyHeaders(SHOPIFY_BODY, 'orders/create', secret))).toMatchObject({
      status: 202,
    });
    const order = resultOf(page);
    await order.getByText('820982911946154508').waitFor();
    await order.getByText('+971 50 123 4567').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Open the order' }).click();
    await page.getByText('Webhook · My Shopify').waitFor();
    await page.getByText('lamps:820982911946154508', { exact: true }).waitFor();
    await page.getByText('Id on My Shopify').waitFor();
    await page.getByRole('heading', { name: '#1001' }).or(page.getByText('#1001')).first().waitFor();
  });

  test('the steps to a source have addresses: Back makes no second source, and what was entered survives another page', async () => {
    const { account, person, path } = await holder();
    const page = await openPageAs(portal, person, path);
    await page.getByRole('link', { name: 'Connect a platform' }).click();
    await page.getByRole('radio', { name: 'WooCommerce' }).check();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('First shop');
    await page.getByRole('link', { name: 'All sources' }).click();
    await page.getByRole('link', { name: 'Connect a platform' }).click();
    expect(await name.inputValue()).toBe('First shop');
    await page.getByRole('button', { name: 'Create the source' }).click();
    const secret = (await page.locator('code.secret').textContent()) as string;
    const shown = page.locator('code.secret', { hasText: secret });
    await page.getByRole('button', { name: 'Next: send a test' }).click();
    const waiting = page.getByText('Waiting for the first delivery');
    await waiting.waitFor();
    await page.goBack();
    await shown.waitFor();
    await page.goBack();
    await page.getByText('The source for WooCommerce is created.').waitFor();
    await expectAccessible(page);
    await page.goBack();
    await page.locator('.source-list').getByText('First shop').waitFor();
    await page.goForward();
    await page.getByRole('link', { name: 'Next: URL and secret' }).click();
    await shown.waitFor();
    await page.getByText('The platform has a secret of its own').click();
    const pasted = page.getByLabel('Secret from the platform');
    await pasted.fill('a secret of the shop itself');
    await page.getByRole('link', { name: 'All sources' }).click();
    await page.getByRole('link', { name: 'How to connect' }).click();
    await shown.waitFor();
    expect(await pasted.inputValue()).toBe('a secret of the shop itself');
    await page.getByRole('button', { name: 'Next: send a test' }).click();
    await waiting.waitFor();
    await page.reload();
    await waiting.waitFor();
    expect(await knex('sources').where({ account_id: account.id })).toHaveLength(1);
    const body = '{"id":4711}';
    const url = await knex('sources').where({ account_id: account.id }).first('source_id');
    const headers = wooCommerceHeaders(body, 'order.created', 'a secret of the shop itself');
    expect(await deliver(api, url, body, headers)).toMatchObject({ status: 202 });
  });

  test.each([
    ['en-AE', 'Salla', 'What each status of Salla means here', 'under_review + bank', 'Not paid'],
    ['ar-AE', 'زد', 'ما تعنيه هنا كل حالة في زد', 'refunded, reversed, chargeback', 'مسترد'],
  ])('in %s, %s is connected, and shows what its statuses mean', async (locale, platform, title, says, payment) => {
    const { person, path } = await holder();
    const options = { locale, viewport: { width: 390, height: 800 } };
    const page = await openPageAs(portal, person, `${path}?show=new`, options);
    await page.getByRole('radio', { name: platform }).check();
    await page.getByLabel(/^(Name|الاسم)$/).fill('My shop');
    await page.keyboard.press('Enter');
    await page.locator('code.secret').waitFor();
    await page.locator('summary', { hasText: title }).click();
    const row = page.locator('tr', { hasText: says });
    await row.getByText(payment).waitFor();
    expect(await page.getByRole('link', { name: /^(Guide:|الدليل)/ }).getAttribute('href')).toMatch(
      /\/docs\/senders\/(salla|zid)$/,
    );
    // The click scrolled, and a bar at the top may cover part of a button.
    await page.evaluate('scrollTo(0, 0)');
    await expectAccessible(page);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  test('another platform is connected with its own signature; the secret that was created signs', async () => {
    const { person, path } = await holder();
    const page = await openPageAs(portal, person, `${path}?show=new`, { viewport: { width: 390, height: 800 } });
    await page.getByRole('radio', { name: /Another platform/ }).check();
    await page.getByLabel('Name', { exact: true }).fill('Own shop');
    await page.getByLabel('Header with the signature or token').fill('x bad');
    await page.getByRole('radio', { name: 'base64' }).check();
    await page.getByLabel('Text before the signature or token').fill('v1=');
    await page.getByRole('button', { name: 'Create the source' }).click();
    await page.getByText('This value is not accepted.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Header with the signature or token').fill('X-Own-Signature');
    await page.getByRole('button', { name: 'Create the source' }).click();
    const secret = (await page.locator('code.secret').textContent()) as string;
    expect(secret).toMatch(/^oss_/);
    await expectAccessible(page);
    const url = await shownUrl(page);
    await page.getByRole('button', { name: 'Next: send a test' }).click();
    const body = '{"id":"own-1","customer":{"name":"Omar"}}';
    const signature = createHmac('sha256', secret).update(body).digest('base64');
    const headers = { 'Content-Type': 'application/json', 'X-Own-Signature': `v1=${signature}` };
    expect(await deliverTo(url, body, headers)).toMatchObject({ status: 202 });
    await resultOf(page).getByText('Omar').waitFor();
    await expectAccessible(page);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(390);
    await page.reload();
    await page.getByRole('link', { name: 'Back to URL and secret' }).click();
    await page.getByText('The secret is stored and not shown again').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  test('a mapping is corrected beside the delivery by keyboard and pointer, and the dead delivery becomes an order', async () => {
    const { account, person } = await holder();
    const source = await createTestSource(stack, account, 'woocommerce');
    await setMapping(db, {
      accountId: account.id,
      sourceNumber: source.source_number,
      mapping: { source_order_id: '/nothing', items: { list: '/line_items', name: '/name' } },
      by: 'tester',
    });
    const body = JSON.stringify({ id: 727, billing: { phone: '050 123' }, line_items: [{ name: 'Lamp', sku: 'L-1' }] });
    await until('the mapping is in use', async () => {
      const { body: reply } = await deliver(api, source, body, wooCommerceHeaders(body));
      const status = await api.final(account, reply.receipt_id);
      return status.body.error?.code === 'mapping_failed';
    });
    const page = await openPageAs(portal, person, `/accounts/${account.id}/receipts?state=dead`);
    await page
      .getByRole('link', { name: /No order id found/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'No order id found', exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Edit the mapping' }).click();
    const result = resultOf(page);
    // The editor begins with what is wrong: fields that are fine are folded.
    const problems = page.locator('.mapping-problems');
    await problems.getByText('No order id found. Deliveries like this').waitFor();
    await problems.getByText('This delivery has no value at: /nothing').waitFor();
    await problems.getByText('Phone: The mapping has no value for this field.').waitFor();
    await page.getByText('deliver').first().waitFor();
    await expectAccessible(page);
    expect(await page.getByLabel('Item: name', { exact: true }).isVisible()).toBe(false);
    await expectEmphasis(page.getByRole('button', { name: 'Map them again…' }), false);

    // By pointer: the value replaces the pointer of the focused field.
    await page.getByRole('button', { name: 'Go to the field: Order id (required)' }).click();
    await expectFocused(page.getByLabel('Order id (required)', { exact: true }));
    await page.getByRole('button', { name: '/id: 727' }).click();
    await result.getByText('727', { exact: true }).first().waitFor();
    // By keyboard: from a new field to a value and back.
    await page.getByRole('button', { name: 'Add: Phone' }).focus();
    await page.keyboard.press('Enter');
    const phone = page.getByLabel('Phone', { exact: true });
    await expectFocused(phone);
    await page.getByRole('button', { name: '/id: 727' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await phone.inputValue()).toBe('/billing/phone');
    await expectFocused(phone);
    await problems.getByText(/Not a possible phone number|No country has a phone number/).waitFor();
    await page.getByRole('button', { name: /other fields, without problems/ }).click();
    // A field of an item takes its pointer from the item on, and nothing outside of the list.
    await page.getByRole('button', { name: 'Add: Item: SKU' }).click();
    await page.getByRole('button', { name: '/id: 727' }).click();
    await page.getByText('Choose a value inside the list of items.').waitFor();
    await page.getByRole('button', { name: '/line_items/0/sku' }).click();
    expect(await page.getByLabel('Item: SKU', { exact: true }).inputValue()).toBe('/sku');
    // Errors show at their field.
    await page.getByRole('button', { name: 'Add: Emirate' }).click();
    await page.getByLabel('Emirate', { exact: true }).fill('billing');
    await problems.getByText('Emirate: A pointer begins with a slash').waitFor();
    await page.locator('.mapping-form').getByText('A pointer begins with a slash').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Kind of value: Emirate').selectOption('constant');
    await page.getByLabel('Emirate', { exact: true }).fill('Dubai');
    await result.getByText('Dubai').waitFor();

    await page.getByRole('radio', { name: 'JSON' }).check();
    const json = page.getByRole('textbox', { name: 'JSON' });
    expect(JSON.parse(await json.inputValue())).toEqual({
      source_order_id: '/id',
      customer: { phone: '/billing/phone' },
      emirate: { constant: 'Dubai' },
      items: { list: '/line_items', name: '/name', sku: '/sku' },
    });
    await json.fill('{');
    await page.getByText('This is not a JSON object.').waitFor();
    await expectAccessible(page);
    await json.fill('{"source_order_id": "/id", "order_number": {"constant": "from JSON"}}');
    await result.getByText('from JSON').waitFor();
    await expectEmphasis(page.getByRole('button', { name: 'Map them again…' }), false);
    await page.getByRole('button', { name: 'Save the mapping' }).click();
    await page.getByText('The mapping is saved.').waitFor();
    await page.getByText('The mapping now finds the order id.').waitFor();
    await expectEmphasis(page.getByRole('button', { name: 'Map them again…' }), true);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Map them again…' }).click();
    await page.getByText(/would become an order/).waitFor();
    await page.getByRole('button', { name: /Process \d+ receipts? again/ }).click();
    await until('it is an order', async () => {
      const [order] = await knex('orders').where({ account_id: account.id, source_order_id: 'my-woocommerce:727' });
      return order?.order_number === 'from JSON' || order !== undefined;
    });
    await page.getByRole('button', { name: '3 versions' }).click();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByText('The form shows version 1.').waitFor();
    await page.getByText('Unsaved changes').waitFor();
    const orderId = page.getByLabel('Order id (required)', { exact: true });
    expect(await orderId.inputValue()).toBe('/id');
    await page.getByRole('button', { name: 'Save the mapping' }).click();
    await page.getByRole('button', { name: '4 versions' }).waitFor();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
  });

  test('the mapping opens with the delivery that failed; edits survive leaving and a reload, and replace no newer version unasked', async () => {
    const { account, person } = await holder();
    const colleague = await createPerson(stack, account.id, 'developer');
    const source = await createTestSource(stack, account, 'woocommerce');
    const shop = JSON.stringify({ total: '12.00', billing: { first_name: 'Aisha' } });
    const { receipt_id } = (await deliver(api, source, shop, wooCommerceHeaders(shop))).body;
    // Another that failed and ten that are fine come after it.
    const later = shop.replace('12.00', '13.00');
    await deliver(api, source, later, wooCommerceHeaders(later));
    for (let id = 1; id <= 10; id += 1) {
      const body = JSON.stringify({ id, number: `W-${id}` });
      await api.final(account, (await deliver(api, source, body, wooCommerceHeaders(body))).body.receipt_id);
    }
    const path = `/accounts/${account.id}/receipts/${receipt_id}`;
    const page = await openPageAs(portal, person, path);
    await expectEmphasis(page.getByRole('button', { name: 'Process again…' }), false);
    await expectEmphasis(page.getByRole('link', { name: 'Edit the mapping' }), true);
    await page.getByRole('link', { name: 'Edit the mapping' }).click();
    const choice = page.getByLabel('Delivery', { exact: true });
    const value = page.getByRole('button', { name: '/total: "12.00"' });
    await value.waitFor();
    expect(await choice.inputValue()).toBe(receipt_id);
    // The page asks for the opened delivery and the newest ones at the same time.
    const names = await until('the newest deliveries are offered', async () => {
      const offered = await choice.locator('option').allTextContents();
      return offered.filter((name) => /W-\d+.* · order · became an order · /.test(name)).length === 10 && offered;
    });
    expect(new Set(names).size).toBe(names.length);
    const problems = page.locator('.mapping-problems');
    await problems.getByText('This delivery has no value at: /id').waitFor();
    await choice.selectOption({ index: 0 });
    await problems.getByText('No order id found').waitFor({ state: 'detached' });
    await page.goto(`${portal.url}/accounts/${account.id}/shops?show=mapping&source=${source.source_number}`);
    // Without one in the address, it is the newest that failed.
    await page.getByRole('button', { name: '/total: "13.00"' }).waitFor();

    const orderId = page.getByLabel('Order id (required)', { exact: true });
    await orderId.fill('/billing/first_name');
    await page.getByText('Unsaved changes').waitFor();
    await problems.getByText('No order id found').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'All sources' }).click();
    await page.getByRole('link', { name: 'Edit the mapping' }).click();
    await page.getByText('Unsaved changes').waitFor();
    expect(await orderId.inputValue()).toBe('/billing/first_name');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByText('Unsaved changes').waitFor();
    expect(await orderId.inputValue()).toBe('/billing/first_name');
    await expectAccessible(page);

    const client = await signIn(portal, colleague);
    const theirs = { mapping: { source_order_id: '/number', total: '/total' }, version: 1 };
    const save = () => client.put(`/accounts/${account.id}/sources/${source.source_number}/mapping`, theirs);
    expect(await save()).toMatchObject({ status: 200 });
    await page.getByRole('button', { name: 'Save the mapping' }).click();
    const note = page.getByText('Version 2 was saved after you began:');
    await note.getByText(colleague.email).waitFor();
    expect(await page.getByRole('button', { name: 'Save the mapping' }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Use theirs' }).click();
    await page.getByText('The changes are discarded.').waitFor();
    expect(await orderId.inputValue()).toBe('/number');
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await orderId.inputValue()).toBe('/billing/first_name');
    await page.getByRole('button', { name: 'Use mine' }).click();
    await page.getByRole('button', { name: 'Save the mapping' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    await page.getByText('The mapping now finds the order id. 2 deliveries had none.').waitFor();
    const [stored] = await knex('sources').where({ account_id: account.id });
    expect(stored).toMatchObject({ mapping_version: 3, mapping: { source_order_id: '/billing/first_name' } });

    await orderId.fill('/x');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    expect(await orderId.inputValue()).toBe('/billing/first_name');
  });

  test('an order that its shop cancelled and ordered again needs review, and a dispatched one is raised above the list', async () => {
    const { account, person } = await holder();
    const source = await createTestSource(stack, account, 'woocommerce');
    const send = async (id: number, status: string, minute: number) => {
      const body = JSON.stringify({ id, number: `${id}`, status, date_modified_gmt: `2026-11-28T10:0${minute}:00` });
      const { body: reply } = await deliver(api, source, body, wooCommerceHeaders(body, 'order.updated'));
      if (reply.receipt_id) await api.final(account, reply.receipt_id);
    };
    for (const id of [801, 802]) await send(id, 'pending', 1);
    await knex('orders')
      .where({ account_id: account.id, order_number: '802' })
      .update({ review_state: 'confirmed', reviewed_by: 'x', reviewed_at: new Date(0) });
    for (const id of [801, 802]) await send(id, 'cancelled', 2);
    for (const id of [801, 802]) await send(id, 'processing', 3);

    const page = await openPageAs(portal, person, `/accounts/${account.id}/orders`);
    const requests = page.getByRole('region', { name: 'Cancellation requests' });
    await requests.getByText('ordered again since').waitFor();
    await page.getByRole('link', { name: /801/ }).first().click();
    await page.getByText('The platform cancelled this order, and then sent it again as one that is wanted.').waitFor();
    await page.getByText('The platform had cancelled this order, and then sent it as one that is wanted.').waitFor();
    await page.locator('.history').getByText('my woocommerce').first().waitFor();
    await expectAccessible(page);
    await requests.getByRole('link', { name: '802' }).click();
    await page.getByText('The platform has ordered it again since. Make sure that it is delivered.').waitFor();
    await expectAccessible(page);
  });

  test('in Arabic and dark, a source is listed with its activity, gets another secret and URL, and is removed', async () => {
    const { account, person, path } = await holder();
    const source = await createTestSource(stack, account, 'woocommerce');
    for (const body of ['{"id":1}', '{}']) await deliver(api, source, body, wooCommerceHeaders(body));
    const page = await openPageAs(portal, person, path, {
      locale: 'ar-AE',
      colorScheme: 'dark',
      viewport: { width: 390, height: 800 },
    });
    await page.getByText(/نجح .*50/).waitFor();
    await page.getByRole('link', { name: 'إرسال واحد دون رقم طلب' }).waitFor();
    await expectAccessible(page);
    const url = await shownUrl(page);
    await page.getByRole('button', { name: 'استبدال السر' }).click();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'استبدال السر' }).click();
    await page.getByText('يظهر هذا السر مرة واحدة').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'حفظته' }).click();
    await page.getByText('يُقبل السر القديم حتى').waitFor();
    await page.getByRole('button', { name: 'استبدال العنوان' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'استبدال العنوان' }).click();
    await until('the URL is another one', async () => (await shownUrl(page)) !== url);
    await page.getByRole('link', { name: 'تعديل الربط بين الحقول' }).click();
    await page.locator('.mapped-order').waitFor();
    await expectAccessible(page);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.getByRole('link', { name: 'كل المصادر' }).click();
    await page.getByRole('button', { name: 'إزالة' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'إزالة المصدر' }).click();
    await page.getByText('لا يوجد متجر مربوط بعد').waitFor();
  });

  test('an order shows what its platform sent, and a member that is not read becomes a detail', async () => {
    const { account, person } = await holder();
    const source = await createTestSource(stack, account, 'shopify');
    const body = SHOPIFY_BODY.replace(
      '"name": "#1001"',
      '"name": "#1001", "test": true, "gift": {"wrap_colour": "red"}',
    );
    const { receipt_id } = (await deliver(api, source, body, shopifyHeaders(body))).body;
    const { order_id } = (await api.final(account, receipt_id)).body;
    const page = await openPageAs(portal, person, `/accounts/${account.id}/orders/${order_id}`);
    await page.getByText('1 member is not read').waitFor();
    await page.locator('.order-head').getByText('A test that the platform sent. It is never dispatched.').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: '"wrap_colour": "red"' }).click();
    await page.getByRole('button', { name: 'Add to the details' }).click();
    await page.getByText('In the details').waitFor();
    expect(await knex('orders').where({ order_id }).first()).toMatchObject({ details: 'wrap colour: red' });
    await page.getByRole('radio', { name: 'As mapped' }).check();
    await page.locator('.raw').getByText('"source_order_id"').waitFor();
    await expectAccessible(page);
  });

  test('a rejected delivery is listed with its source', async () => {
    const { account, person } = await holder();
    const source = await createTestSource(stack, account, 'shopify');
    await deliver(api, source, '{}', shopifyHeaders('{}', 'orders/create', 'wrong'));
    const page = await openPageAs(portal, person, `/accounts/${account.id}/rejected`);
    const item = page.locator('.rejected-list > li');
    await item.getByText('my shopify').waitFor();
    await item.getByText('POST /ingest/sources/…').waitFor();
    await expectAccessible(page);
  });
});

/** Whether a button or link is the primary one. */
async function expectEmphasis(control: ReturnType<Page['getByRole']>, isMain: boolean): Promise<void> {
  await control.waitFor();
  expect((await control.getAttribute('class'))?.includes('button-main')).toBe(isMain);
}

async function expectFocused(field: ReturnType<Page['getByLabel']>): Promise<void> {
  await until('the field has the focus', () =>
    field.evaluate((element) => element === element.ownerDocument.activeElement),
  );
}

describe.each(['en', 'ar'])('the texts in %s', (language) => {
  test('name every audit action of a source', async () => {
    const { default: texts } = await import(`../../apps/portal/page/src/locales/${language}/audit.json`, {
      with: { type: 'json' },
    });
    const actions = ['created', 'mapping_changed', 'secret_replaced', 'url_replaced', 'removed'];
    expect(actions.filter((action) => !texts.action[`source_${action}`])).toEqual([]);
  });
});

test.each(SOURCE_PRESETS)(
  'the form shows the whole mapping of the preset %s, and changes nothing by itself',
  async (preset) => {
    const path = '../../apps/portal/page/src/pages/shops/mapping/mapping-form.ts';
    const { formOf, mappingOf } = await import(path);
    const { mapping } = PRESETS[preset];
    const form = formOf(mapping);
    // A list of one value is that value, but for those of a condition, and for details.
    const unwrapped = JSON.stringify(mapping, (name, value) =>
      Array.isArray(value) && value.length === 1 && !name.startsWith('/') && name !== 'details' ? value[0] : value,
    );
    expect(mappingOf(form)).toEqual(JSON.parse(unwrapped));
    // Conditions and details are for the JSON view.
    const others = Object.values(form).flat() as ({ kind: string; value?: object } | null)[];
    for (const candidate of others)
      if (candidate?.kind === 'other')
        expect(JSON.stringify(candidate.value)).toMatch(/"if":|"except":|"where":|"label":|^\{"\/[^"]+":\[/);
  },
);
