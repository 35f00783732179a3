import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, openPage, openPageAs } from '../harness/browser.ts';
import { createPerson, openShop, signIn } from '../harness/people.ts';
import { startApp } from '../harness/processes.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, api, portal } = useStack({ intake: true, portal: true });

const openAccount = ({ signing = false } = {}) => openShop(stack, portal, { signing });

/** The label of the focused element; for a choice among several, the label of the choice. */
const focused = (page: Page) =>
  page.evaluate<string>(`(() => {
    const element = document.activeElement;
    const label = element.type === 'radio' ? element.closest('fieldset').querySelector('legend') : element.labels?.[0];
    return (label ?? element).textContent.trim();
  })()`);

describeWith('chromium')('in a browser', () => {
  test('a key is created with the keyboard alone: the name has the focus, and Enter creates the key', async () => {
    const { base, person } = await openAccount();
    const page = await openPageAs(portal, person, `${base}/developers`);
    await page.getByRole('button', { name: 'Create a key' }).click();
    expect(await focused(page)).toBe('What is the key for?');
    await page.keyboard.type('shop back end');
    await page.keyboard.press('Enter');
    await page.getByText('This is shown once').waitFor();
    expect(await focused(page)).toBe('Copy the key');
  });

  test('a field that is missing or wrong gets the focus and says why, in the language of the page', async () => {
    const page = await openPage();
    await page.goto(portal.url);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const missing = page.getByRole('alert').filter({ hasText: 'Fill this in.' });
    await missing.waitFor();
    expect(await focused(page)).toBe('E-mail address');
    await expectAccessible(page);
    await page.keyboard.type('nobody');
    await missing.waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByText('Type an e-mail address, such as name@example.com.').waitFor();

    const arabic = await openPage({ locale: 'ar' });
    await arabic.goto(portal.url);
    await arabic.getByRole('textbox', { name: 'البريد الإلكتروني' }).fill('nobody@example.com');
    await arabic.keyboard.press('Enter');
    await arabic.getByRole('alert').filter({ hasText: 'املأ هذا الحقل.' }).waitFor();
    expect(await focused(arabic)).toBe('كلمة المرور');
    await expectAccessible(arabic);
  });

  test('a key and a secret are replaced with the keyboard alone, and Enter never revokes a key by mistake', async () => {
    const { base, person, client } = await openAccount({ signing: true });
    const page = await openPageAs(portal, person, `${base}/developers`);
    await page.getByRole('button', { name: 'Revoke' }).click();
    expect(await focused(page)).toBe('Keep the key');
    await page.keyboard.press('Enter');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect((await client.get(`${base}/keys`)).body.keys).toMatchObject([{ state: 'active' }]);
    await page.getByRole('button', { name: 'Replace' }).click();
    expect(await focused(page)).toBe('How long the old key still works');
    await page.keyboard.press('Enter');
    await page.getByText('This is shown once').waitFor();
    await page.getByRole('button', { name: 'I have saved it' }).press('Enter');
    await page.getByRole('link', { name: 'Webhook', exact: true }).click();
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    expect(await focused(page)).toBe('How long the old secret is still accepted');
    await page.keyboard.press('Enter');
    await page.getByText('Accepted until').waitFor();
  });

  test('two keys of one name are told apart by their endings, and revoking warns about the newest and a used one', async () => {
    const { account, base, person, client } = await openAccount();
    const made = (await client.post(`${base}/keys`, { name: 'shop' })).body;
    const newer = (await client.post(`${base}/keys/${made.key_id}/replace`, { grace: '24h' })).body;
    const page = await openPageAs(portal, person, `${base}/developers`);
    const row = (lastFour: string) => page.getByRole('row', { name: new RegExp(`shop.*…${lastFour}`) });
    await row(made.last_four).getByText('Replaced: works until').waitFor();
    expect(await row(newer.last_four).getByText('Replaced').count()).toBe(0);
    await expectAccessible(page);
    await row(newer.last_four).getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: `Revoke the key shop …${newer.last_four}?` }).waitFor();
    await dialog.getByText('the newest key with this name').waitFor();
    await dialog.getByText('Never used').waitFor();
    expect(await dialog.getByText('used in the last hour').count()).toBe(0);
    await expectAccessible(page);
    await page.keyboard.press('Escape');

    expect((await api.order({ ...account, key: made.key }, { source_order_id: 'used' })).status).toBe(202);
    await until('the use of the key is noted', async () => {
      const { keys } = (await client.get(`${base}/keys`)).body;
      return keys.some(
        (key: { key_id: number; last_used_at: string | null }) => key.key_id === made.key_id && key.last_used_at,
      );
    });
    await page.reload();
    await row(made.last_four).getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('was used in the last hour').waitFor();
    expect(await dialog.getByText('the newest key with this name').count()).toBe(0);
    await dialog.getByRole('button', { name: `Revoke the key …${made.last_four}` }).click();
    await page.getByText('1 inactive key').waitFor();
    const { keys } = (await client.get(`${base}/keys`)).body;
    expect(keys).toMatchObject([{ name: 'test' }, { state: 'revoked' }, { key_id: newer.key_id, state: 'active' }]);
  });

  test('a worker that has stopped responding is shown as silent, with its last heartbeat', async () => {
    const operator = await createPerson(stack, null);
    const client = await signIn(portal, operator);
    const frozen = await startApp('worker', stack.env);
    const page = await openPageAs(portal, operator, '/operator/service');
    const row = page.getByRole('row', { name: new RegExp(`process ${frozen.pid}`) });
    await row.getByText('Running').waitFor();
    await expectAccessible(page);
    process.kill(frozen.pid, 'SIGSTOP');
    await row.getByText('No heartbeat').waitFor();
    await row.locator('time').first().waitFor();
    await page.getByText('No worker is running').waitFor();
    await expectAccessible(page);
    expect((await client.get('/operator/service')).body.workers).toMatchObject([{ is_alive: false }]);
    process.kill(frozen.pid, 'SIGCONT');
    await row.getByText('Running').waitFor();
    await frozen.stop();
    await row.waitFor({ state: 'detached' });
  });

  test('the activity log names orders, keys and receipts, links to them and describes the details in words', async () => {
    const worker = await stack.worker();
    const { account, base, person, client } = await openAccount();
    const order = { source_order_id: 'log-1', order_number: '#1042', customer: { name: 'Fatima' }, total: '20' };
    const { body } = await api.order(account, order, { Prefer: 'wait=20' });
    const orderId = body.order_id;
    await client.patch(`${base}/orders/${orderId}`, { edits: { '/customer/name': 'Fatima Ali' } });
    await client.post(`${base}/orders/review`, { order_ids: [orderId], to: 'rejected', reason: 'a test' });
    const key = (await client.post(`${base}/keys`, { name: 'till' })).body;
    const page = await openPageAs(portal, person, `${base}/log`);
    const rejected = page.getByRole('row', { name: /Rejected the order/ });
    await rejected.getByText('Reason: a test').waitFor();
    await page
      .getByRole('row', { name: /Edited the order/ })
      .getByText('Fatima Ali')
      .first()
      .waitFor();
    await page
      .getByRole('row', { name: /Created an API key/ })
      .getByText(`till …${key.last_four}`)
      .waitFor();
    expect(await page.locator('main').textContent()).not.toContain(`order:${orderId}`);
    await expectAccessible(page);
    await rejected.getByRole('link', { name: 'Order #1042' }).click();
    await page.waitForURL(`**/orders/${orderId}*`);
    await page.context().close();
    await worker.close();
  });

  test('the activity log keeps the focus in its search when the first change of fields is found', async () => {
    const worker = await stack.worker();
    const { account, base, person, client } = await openAccount();
    const { body } = await api.order(account, { source_order_id: 'log-2' }, { Prefer: 'wait=20' });
    const page = await openPageAs(portal, person, `${base}/log`);
    const search = page.getByRole('searchbox');
    await search.waitFor();
    await client.patch(`${base}/orders/${body.order_id}`, { edits: { '/customer/name': 'Fatima Ali' } });
    await search.focus();
    await page.keyboard.type('log-2');
    await page.locator('.change-list').waitFor();
    await page.keyboard.type('0');
    expect(await search.inputValue()).toBe('log-20');
    await page.context().close();
    await worker.close();
  });

  test('a full time names its time zone, in a log once for the column', async () => {
    const { base, person, client } = await openAccount();
    await client.post(`${base}/keys`, { name: 'till' });
    const page = await openPageAs(portal, person, `${base}/log`, { timezoneId: 'Asia/Dubai' });
    const time = page.getByRole('row', { name: /Created an API key/ }).locator('time');
    expect(await time.getAttribute('title')).toMatch(/GMT\+4$/);
    expect(await time.textContent()).toMatch(/:\d\d$/);
    expect(await page.getByRole('columnheader').first().textContent()).toBe('When (Asia/Dubai)');
  });
});
