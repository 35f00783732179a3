import { expect, test } from '@jest/globals';
import { createEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import type { Locator, Page } from 'playwright-core';
import { holdRequests, intercept, openPage, openPageAs, stopPageClock, visitAs } from '../harness/browser.ts';
import { createPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const describe = describeWith('chromium');

const { stack, knex, db, portal } = useStack({ portal: { OPERATOR_SECOND_FACTOR: 'optional' } });

const dialogOf = (page: Page) => page.getByRole('dialog');

/** The second click of a double click before the page has drawn anything after the first. */
const doubleClick = (button: Locator) =>
  button.evaluate((element) => {
    (element as unknown as { click(): void }).click();
    (element as unknown as { click(): void }).click();
  });

/** Counts the requests that a page sends to this address. */
function countRequests(page: Page, method: string, address: RegExp): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.method() === method && address.test(request.url())) count += 1;
  });
  return () => count;
}

async function visit(path: (accountId: number) => string): Promise<{ page: Page; accountId: number }> {
  const account = await stack.account();
  const person = await createPerson(stack, account.id);
  const page = await openPageAs(portal, person, path(account.id));
  return { page, accountId: account.id };
}

async function addEndpoint(accountId: number): Promise<void> {
  await setEvents(db, accountId, true);
  await createEndpoint(db, stack.secretsKey, { accountId, url: 'https://shop.example/', types: null });
}

interface Form {
  path: (accountId: number) => string;
  open: (page: Page) => Promise<void>;
  submit: (page: Page) => Locator;
  address: RegExp;
  done: (page: Page) => Locator;
}

const KEY_FORM: Form = {
  path: (id) => `/accounts/${id}/developers`,
  async open(page) {
    await page.getByRole('button', { name: 'Create a key' }).click();
    await dialogOf(page).getByLabel('What is the key for?').fill('twice');
  },
  submit: (page) => dialogOf(page).getByRole('button', { name: 'Create a key' }),
  address: /\/keys$/,
  done: (page) => page.getByRole('button', { name: 'I have saved it' }),
};

const FORMS: Record<string, Form> = {
  'an API key': KEY_FORM,
  'an endpoint': {
    path: (id) => `/accounts/${id}/developers?tab=events`,
    async open(page) {
      await page.getByRole('switch', { name: 'Record events' }).click();
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('URL').fill('https://shop.example/events');
    },
    submit: (page) => dialogOf(page).getByRole('button', { name: 'Add the endpoint' }),
    address: /\/endpoints$/,
    done: (page) => page.getByRole('button', { name: 'I have saved it' }),
  },
  'a source': {
    path: (id) => `/accounts/${id}/shops`,
    async open(page) {
      await page.getByRole('link', { name: 'Connect a platform' }).click();
      await page.getByLabel('Name', { exact: true }).fill('twice');
    },
    submit: (page) => page.locator('form button[type="submit"]'),
    address: /\/sources$/,
    done: (page) => page.getByRole('heading', { name: 'What to do in Shopify' }),
  },
  'an invitation': {
    path: (id) => `/accounts/${id}/users`,
    async open(page) {
      await page.getByRole('button', { name: 'Invite a user' }).click();
      await dialogOf(page).getByLabel('E-mail').fill('somebody@example.test');
      await dialogOf(page).getByRole('radio').first().check();
    },
    submit: (page) => dialogOf(page).locator('button[type="submit"]'),
    address: /\/users$/,
    done: (page) => page.locator('.one-time-link'),
  },
};

describe('a double click', () => {
  test.each(Object.entries(FORMS))('submits a form once: %s', async (_name, { path, open, submit, address, done }) => {
    const { page } = await visit(path);
    await open(page);
    const count = countRequests(page, 'POST', address);
    const release = await holdRequests(page, address);
    await doubleClick(submit(page));
    release();
    await done(page).waitFor();
    expect(count()).toBe(1);
  });

  test('makes one account of an operator', async () => {
    const operator = await createPerson(stack, null);
    const page = await openPageAs(portal, operator, '/operator');
    await page.getByRole('button', { name: 'New account' }).click();
    await dialogOf(page).getByLabel('Name').fill('Only one');
    await doubleClick(dialogOf(page).locator('button[type="submit"]'));
    await page.getByText(/^Account \d+ was created/).waitFor();
    expect(await knex('accounts').where({ name: 'Only one' })).toHaveLength(1);
  });

  test('confirms a destructive question once', async () => {
    const account = await stack.account();
    await addEndpoint(account.id);
    const person = await createPerson(stack, account.id);
    const page = await openPageAs(portal, person, `/accounts/${account.id}/developers?tab=events`);
    await page.getByRole('link', { name: 'https://shop.example/' }).click();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    const count = countRequests(page, 'DELETE', /\/endpoints\//);
    await doubleClick(dialogOf(page).locator('button[type="submit"]'));
    await dialogOf(page).waitFor({ state: 'detached' });
    expect(count()).toBe(1);
  });

  test('counts once also when the response came between its clicks; a later click counts again', async () => {
    const account = await stack.account();
    await addEndpoint(account.id);
    const person = await createPerson(stack, account.id);
    const page = await openPage();
    const moveOn = await stopPageClock(page);
    await visitAs(page, portal, person, `/accounts/${account.id}/developers?tab=events`);
    await page.getByRole('link', { name: 'https://shop.example/' }).click();
    const count = countRequests(page, 'POST', /\/test$/);
    const send = page.getByRole('button', { name: 'Send a test event' });
    await send.click();
    await page.getByText(/The test event (is|was)/).waitFor();
    await send.click();
    await moveOn(500);
    const again = page.waitForRequest(/\/test$/);
    await send.click();
    await again;
    expect(count()).toBe(2);
  });
});

test('a key whose reply was lost is shown after the same form was sent again, and there is one', async () => {
  const { page, accountId } = await visit(KEY_FORM.path);
  const { open, submit, address, done } = KEY_FORM;
  await open(page);
  let isLost = false;
  const ids: (string | undefined)[] = [];
  await intercept(page, address, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    ids.push(route.request().headers()['idempotency-key']);
    if (isLost) return route.continue();
    isLost = true;
    await route.fetch();
    return route.abort();
  });
  await submit(page).click();
  await page.getByText('The portal cannot be reached.').waitFor();
  await submit(page).click();
  await done(page).waitFor();
  expect(await page.locator('dialog pre.secret').textContent()).toMatch(/\S{20}/);
  expect(await knex('api_keys').where({ account_id: accountId, name: 'twice' })).toHaveLength(1);
  expect(ids).toEqual([expect.any(String), ids[0]]);
});

test('a form that was changed after a lost reply is another request', async () => {
  const { page, accountId } = await visit(KEY_FORM.path);
  const { open, submit, address, done } = KEY_FORM;
  await open(page);
  await intercept(page, address, (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
  await submit(page).click();
  await page.getByText('The portal cannot be reached.').waitFor();
  await page.unroute(address);
  await dialogOf(page).getByLabel('What is the key for?').fill('changed');
  await submit(page).click();
  await done(page).waitFor();
  expect(await knex('api_keys').where({ account_id: accountId }).pluck('name')).toContain('changed');
});
