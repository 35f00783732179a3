import { describe, expect, test } from '@jest/globals';
import { createEndpoint, listAttempts, pauseEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { DELIVERY_ERRORS } from '@orders/domain/endpoints.ts';
import { EVENT_TYPES } from '@orders/domain/events.ts';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, intercept, openPageAs } from '../harness/browser.ts';
import { type EventReceiver, startEventReceiver } from '../harness/event-receiver.ts';
import { createPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, portal } = useStack({
  intake: { BASE_PATH: '/api' },
  worker: true,
  notifier: true,
  portal: { CALLBACK_ALLOW: '127.0.0.1:*' },
});

async function holder() {
  const account = await stack.account();
  const person = await createPerson(stack, account.id);
  const receiver = await startEventReceiver();
  return { account, person, receiver, path: `/accounts/${account.id}/developers?tab=events` };
}

/** An account with events and an endpoint. */
async function subscribed() {
  const one = await holder();
  await setEvents(db, one.account.id, true);
  const values = { accountId: one.account.id, url: one.receiver.url, types: null };
  const endpoint = await createEndpoint(db, stack.secretsKey, values);
  return { ...one, endpoint, endpointPath: `${one.path}&endpoint=${endpoint.endpoint_id}` };
}

let orders = 0;

/** Sends orders one after the other, and waits until the receiver has got all their events. */
async function sendOrders(account: TestAccount, receiver: EventReceiver, count: number): Promise<void> {
  const before = receiver.received.length;
  for (let sent = 0; sent < count; sent += 1)
    expect(await api.order(account, { source_order_id: `order-${++orders}` })).toMatchObject({ status: 202 });
  await until('the events are delivered', async () => receiver.received.length >= before + count);
}

const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const dialogButton = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });

describeWith('chromium')('in a browser', () => {
  test('events are enabled, an endpoint is added, and a test event and a resend arrive', async () => {
    const { account, person, receiver, path } = await holder();
    const page = await openPageAs(portal, person, path);
    await page.getByText('No endpoints yet').waitFor();
    expect(await button(page, 'Add an endpoint').count()).toBe(0);
    await expectAccessible(page);
    const record = page.getByRole('switch', { name: 'Record events' });
    expect(await record.getAttribute('aria-checked')).toBe('false');
    await record.focus();
    await page.keyboard.press('Space');
    await page.getByText('No event is stored yet.').waitFor();
    expect(await record.getAttribute('aria-checked')).toBe('true');
    const line = await page.locator('pre.code').textContent();
    expect(line).toBe(`curl -sS '${api.url}/ingest/events?limit=100' -H 'Authorization: Bearer YOUR_API_KEY'`);
    await expectAccessible(page);

    await button(page, 'Add an endpoint').click();
    await page.getByLabel('URL').fill('https://localhost/events');
    await page.keyboard.press('Enter');
    await page.getByText('The URL must name a public host.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByRole('radio', { name: 'Only some' }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Add the endpoint' }).click();
    await page.getByText('Choose at least one type.').waitFor();
    await page.getByRole('checkbox', { name: /Order written/ }).check();
    await page.getByRole('checkbox', { name: /Order edited/ }).check();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Add the endpoint' }).click();
    const secret = (await page.locator('dialog pre.secret').textContent()) as string;
    expect(secret).toMatch(/^whsec_/);
    await expectAccessible(page);
    await button(page, 'I have saved it').click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.getByText('working', { exact: true }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await expectAccessible(page);

    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByText('Nothing was sent yet.').waitFor();
    await page.getByText('order.edited').waitFor();
    await button(page, 'Send a test event').click();
    await page.getByText(/The test event was delivered: status 204 after/).waitFor();
    receiver.verify(receiver.received[0] as never, secret);
    await page.getByRole('row', { name: /endpoint\.test/ }).waitFor();
    expect(await page.getByRole('button', { name: /Send again: event/ }).count()).toBe(0);
    await sendOrders(account, receiver, 1);
    await button(page, 'Send again: event number 1').click();
    await page.getByText('1 event will be sent again.').waitFor();
    await until('it is delivered again', async () => receiver.received.length === 3);
    expect(receiver.received.slice(1).map(({ event }) => event.data.sequence)).toEqual([1, 1]);
    await until('both attempts are listed', async () => (await page.locator('tbody tr').count()) === 3);
    await expectAccessible(page);
  });

  test('a test event that fails says why, and the endpoint says since when it fails', async () => {
    const { person, receiver, endpointPath } = await subscribed();
    receiver.respond(500);
    const page = await openPageAs(portal, person, endpointPath);
    await button(page, 'Send a test event').click();
    const reason = 'The endpoint replied with status 500 instead of 2xx.';
    await page.getByText(`The test event was not delivered. ${reason}`).waitFor();
    await page.getByText('No success since').waitFor();
    const row = page.getByRole('row', { name: /endpoint\.test/ });
    await row.getByText(reason).waitFor();
    await row.getByText('failed 500').waitFor();
    await expectAccessible(page);
    receiver.respond(410);
    await button(page, 'Send a test event').click();
    await page.getByText('It replied 410, which means').waitFor();
    await expectAccessible(page);
    receiver.respond(204);
    await button(page, 'Enable').click();
    await page.getByText('working', { exact: true }).waitFor();
  });

  test('a range is sent again, the older attempts follow, and a request that fails can be repeated', async () => {
    const { account, person, receiver, endpoint, endpointPath } = await subscribed();
    await sendOrders(account, receiver, 3);
    await until('all are listed', async () => (await listAttempts(db, endpoint, { limit: 5 })).length === 3);
    const [{ attempt_number: _, ...row } = {} as never] = await knex('delivery_attempts')
      .where({ account_id: account.id })
      .limit(1);
    const failed = { ...row, status: null, error: 'timeout', at: new Date(Date.now() - 3_600_000) };
    await knex('delivery_attempts').insert(Array.from({ length: 55 }, () => failed));
    const page = await openPageAs(portal, person, endpointPath);
    await page.getByText('The endpoint did not reply within 15 seconds.').first().waitFor();
    expect(await page.locator('tbody tr').count()).toBe(50);
    await button(page, 'Show more').click();
    await until('all attempts are shown', async () => (await page.locator('tbody tr').count()) === 58);

    await button(page, 'More actions').click();
    await button(page, 'Send events again…').click();
    await page.getByText('Stored: numbers 1 to 3').waitFor();
    const [from, to] = [page.getByLabel('From number'), page.getByLabel('To number')];
    await from.fill('x');
    await to.fill('2');
    await page.keyboard.press('Enter');
    await page.getByText('Type a number from 1 on.').waitFor();
    await from.fill('3');
    await page.getByText('This must not be less than the first number.').waitFor();
    await expectAccessible(page);
    await from.fill('7');
    await to.fill('9');
    await page.keyboard.press('Enter');
    await page.getByText('No stored event with these numbers').waitFor();
    await from.fill('2');
    await to.fill('3');
    await intercept(page, /\/resend$/, (route) => route.abort());
    await page.keyboard.press('Enter');
    await page.getByText('The portal cannot be reached.').waitFor();
    await page.unroute(/\/resend$/);
    await dialogButton(page, 'Send again').click();
    await page.getByText('2 events will be sent again.').waitFor();
    await until('they are delivered again', async () => receiver.received.length === 5);
    const again = receiver.received.slice(3).map(({ event }) => event.data.sequence);
    expect(new Set(again)).toEqual(new Set([2, 3]));
  });

  test('in Arabic, dark and on a phone, an endpoint is paused, gets another secret and is removed', async () => {
    const { account, person, receiver, endpoint, path } = await subscribed();
    await sendOrders(account, receiver, 1);
    const page = await openPageAs(portal, person, path, {
      locale: 'ar-AE',
      colorScheme: 'dark',
      viewport: { width: 390, height: 800 },
    });
    await page.getByText('تعمل', { exact: true }).waitFor();
    await expectAccessible(page);
    expect(await widthOf(page)).toBeLessThanOrEqual(390);
    await button(page, 'إضافة نقطة استقبال').click();
    await page.getByLabel('العنوان').fill('http://hooks.example.com');
    await page.getByRole('radio', { name: 'بعضها فقط' }).check();
    await page.getByRole('checkbox').first().check();
    await page.getByRole('dialog').getByRole('button', { name: 'إضافة النقطة' }).click();
    await page.getByText('يجب أن يبدأ العنوان').waitFor();
    await expectAccessible(page);
    expect(await widthOf(page)).toBeLessThanOrEqual(390);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });

    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByText('receipt.written').first().waitFor();
    await button(page, 'إيقاف مؤقت').click();
    await page.getByText('متوقفة مؤقتًا').waitFor();
    await page.getByText('تنتظر الأحداث إلى أن تفعّلها.').waitFor();
    await button(page, 'إجراءات أخرى').click();
    await button(page, 'استبدال السر…').click();
    await expectAccessible(page);
    await dialogButton(page, 'استبدال السر').click();
    const secret = (await page.locator('dialog pre.secret').textContent()) as string;
    expect(secret).not.toBe(endpoint.secret);
    await page.keyboard.press('Escape');
    await page.getByText('لن يُعرض مرة أخرى').waitFor();
    await expectAccessible(page);
    expect(await widthOf(page)).toBeLessThanOrEqual(390);
    await dialogButton(page, 'حفظته').click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.getByText('يوقّع السر القديم أيضًا حتى').waitFor();
    expect(await page.content()).not.toContain(secret);
    await button(page, 'إرسال حدث تجريبي').click();
    await page.getByText('سُلّم الحدث التجريبي').waitFor();
    for (const one of [secret, endpoint.secret]) receiver.verify(receiver.received[1] as never, one);
    await expectAccessible(page);
    expect(await widthOf(page)).toBeLessThanOrEqual(390);
    await button(page, 'إجراءات أخرى').click();
    await button(page, 'إزالة…').click();
    await expectAccessible(page);
    await dialogButton(page, 'إزالة النقطة').click();
    await page.getByText('لا توجد نقاط استقبال بعد').waitFor();
  });

  test('events are disabled after a question, the endpoints stay, and the activity log names them', async () => {
    const { account, person, receiver, endpoint, path } = await subscribed();
    await pauseEndpoint(db, endpoint);
    const operator = await createPerson(stack, null);
    const page = await openPageAs(portal, operator, path);
    await page.getByRole('switch', { name: 'Record events' }).click();
    await expectAccessible(page);
    await dialogButton(page, 'Cancel').click();
    await page.getByText('No event is stored yet.').waitFor();
    await page.getByRole('switch', { name: 'Record events' }).click();
    await dialogButton(page, 'Stop recording').click();
    await page.getByText('Nothing is recorded while this is off.').waitFor();
    expect(await button(page, 'Add an endpoint').count()).toBe(0);
    await page.getByRole('link', { name: receiver.url }).click();
    await button(page, 'Enable').click();
    await page.getByText('working', { exact: true }).waitFor();
    await page.goto(`${portal.url}${path}&endpoint=ep_unknown`);
    await page.getByText('There is no such endpoint.').waitFor();
    await expectAccessible(page);

    const log = await openPageAs(portal, person, `/accounts/${account.id}/log`);
    await log
      .getByRole('row', { name: /Enabled an endpoint/ })
      .getByText(receiver.url)
      .waitFor();
    await log.getByRole('row', { name: /Disabled events/ }).waitFor();
    await expectAccessible(log);
  });
});

const textsOf = async (language: string, name: string) => {
  const path = `../../apps/portal/page/src/locales/${language}/${name}.json`;
  return (await import(path, { with: { type: 'json' } })).default;
};

describe.each(['en', 'ar'])('the texts in %s', (language) => {
  test('name every audit action of events and endpoints', async () => {
    const { action } = await textsOf(language, 'audit');
    const endpoint = ['created', 'rotated', 'paused', 'enabled', 'removed', 'tested'].map((one) => `endpoint_${one}`);
    const actions = [...endpoint, 'events_resent', 'events_enabled', 'events_disabled'];
    expect(actions.filter((one) => !action[one])).toEqual([]);
  });

  test('name every type of event and every reason of a failed attempt', async () => {
    const { type, error } = await textsOf(language, 'events');
    const named = Object.entries(type).flatMap(([kind, names]) =>
      Object.keys(names as object).map((name) => `${kind}.${name}`),
    );
    expect(new Set(named)).toEqual(new Set([...EVENT_TYPES, 'endpoint.test']));
    expect(new Set(Object.keys(error))).toEqual(new Set(Object.keys(DELIVERY_ERRORS)));
  });
});
