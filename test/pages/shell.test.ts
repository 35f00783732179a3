import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, holdRequests, intercept, openPage, openPageAs, visitAs } from '../harness/browser.ts';
import { createPerson, type TestPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { insertOrder } from '../harness/review-list.ts';
import { extendUndoOf, rowOf, watchDecisions } from '../harness/review-page.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const describe = describeWith('chromium');

const { stack, knex, portal } = useStack({ portal: true });

const PHONE = { viewport: { width: 390, height: 844 } };
const WIDE = { viewport: { width: 1600, height: 900 } };

interface Shop {
  account: TestAccount;
  person: TestPerson;
  review: string;
}

/** An account with a reviewer and orders. */
async function openShop(): Promise<Shop> {
  const account = await stack.account();
  const person = await createPerson(stack, account.id);
  for (let number = 1; number <= 30; number += 1) {
    await insertOrder(knex, account.id, {
      order_number: `A-${number}`,
      customer_name: 'Fatima',
      customer_phone: '+971501234567',
      address: 'Villa 4',
      emirate_code: 'AE-DU',
      items: JSON.stringify([{ name: 'Lamp', quantity: 1, sku: null }]),
    });
  }
  return { account, person, review: `/accounts/${account.id}/orders` };
}

const nameOf = async ({ id }: TestAccount): Promise<string> =>
  (await knex('accounts').where({ account_id: id }).first('name')).name;

/** Ends every session of a person, as an operator or the end of its time does. */
async function endSessions({ email }: TestPerson): Promise<void> {
  await knex('user_sessions').whereIn('user_id', knex('users').where({ email }).select('user_id')).delete();
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
const menuButton = (page: Page) => page.getByRole('button', { name: /^Menu/ });
const endedDialog = (page: Page) => page.getByRole('dialog', { name: 'Sign in' });

async function signInAgain(page: Page, { email, password }: TestPerson): Promise<void> {
  const dialog = endedDialog(page);
  await dialog.getByLabel('E-mail address').fill(email);
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
}

describe('the menu', () => {
  test('is above the list on a wide screen, and no click in it reaches an order', async () => {
    const { person, review } = await openShop();
    const page = await openPageAs(portal, person, review, WIDE);
    await rowOf(page, 'A-30').waitFor();
    await menuButton(page).click();
    await page.getByRole('radio', { name: 'Dark' }).check();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    await expectAccessible(page);
    await page.getByRole('radio', { name: 'العربية' }).click();
    await page.locator('html[dir="rtl"]').waitFor();
    await expectAccessible(page);
    expect(new URL(page.url()).pathname).toBe(review);
  });

  test('closes on Escape and on a click outside, and returns the focus', async () => {
    const { person, review } = await openShop();
    const page = await openPageAs(portal, person, `${review}?q=Fatima`);
    await rowOf(page, 'A-30').waitFor();
    const link = page.getByRole('link', { name: 'Profile and sessions' });
    await menuButton(page).focus();
    await page.keyboard.press('Enter');
    await link.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await link.waitFor({ state: 'hidden' });
    await page.locator('.user-button:focus').waitFor();

    await menuButton(page).click();
    await link.waitFor();
    await page.locator('.review-top').click({ position: { x: 2, y: 2 } });
    await link.waitFor({ state: 'hidden' });
    await page.locator('.user-button:focus').waitFor();
  });

  test('takes no key that would decide about an order', async () => {
    const { person, account, review } = await openShop();
    const page = await openPageAs(portal, person, review);
    await rowOf(page, 'A-30').waitFor();
    await page.keyboard.press('j');
    await menuButton(page).click();
    await page.getByRole('radio', { name: 'Light' }).focus();
    await page.keyboard.press('c');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await rowOf(page, 'A-30').count()).toBe(1);
    const confirmed = await knex('orders')
      .where({ account_id: account.id, review_state: 'confirmed' })
      .select('order_id');
    expect(confirmed).toEqual([]);
  });
});

describe('a page whose file does not load', () => {
  const FILE = /\/assets\/developers-page-[^/]+\.js$/;

  test('that is the first one says so, in both languages, once some seconds have passed', async () => {
    const page = await openPage();
    await page.route(/\/assets\/index-[^/]+\.js$/, (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto(portal.url);
    await page.getByText('The portal has not loaded. Reload the page.').waitFor();
    await page.getByText('لم تُحمَّل البوابة.').waitFor();
    await page.unroute(/\/assets\/index-[^/]+\.js$/);
    await page.reload();
    await heading(page, 'Sign in').waitFor();
    expect(await page.getByText('has not loaded').count()).toBe(0);
  });

  test.each(['en', 'ar'])('that has the texts says so in place of their keys, in %s', async (locale) => {
    const page = await openPage({ locale });
    const texts = /\/assets\/common-[^/]+\.js$/;
    await page.route(texts, (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto(portal.url);
    await page.locator('.not-loaded.is-certain').waitFor();
    await page.getByText('The portal has not loaded. Reload the page.').waitFor();
    await page.getByText('لم تُحمَّل البوابة.').waitFor();
    await expectAccessible(page);
    await page.unroute(texts);
    await page.reload();
    await page.getByLabel(locale === 'en' ? 'Password' : 'كلمة المرور').waitFor();
  });

  test('loads by one automatic reload after a deploy', async () => {
    const { person, review } = await openShop();
    const page = await openPageAs(portal, person, review);
    await rowOf(page, 'A-30').waitFor();
    await intercept(page, FILE, (route) => route.fulfill({ status: 404, body: '' }));
    // The new document names the new files.
    page.on('request', (request) => {
      if (request.isNavigationRequest()) void page.unroute(FILE);
    });
    await page.getByRole('link', { name: 'Developers' }).click();
    await heading(page, 'Developers').waitFor();
  });

  test('shows a message instead of reloading for ever, and loads by Try again', async () => {
    const { person, review } = await openShop();
    const page = await openPageAs(portal, person, review);
    await rowOf(page, 'A-30').waitFor();
    let documents = 0;
    page.on('request', (request) => {
      if (request.isNavigationRequest()) documents += 1;
    });
    await intercept(page, FILE, (route) => route.fulfill({ status: 404, body: '' }));
    await page.getByRole('link', { name: 'Developers' }).click();
    await page.getByText('This page could not be shown.').waitFor();
    expect(documents).toBe(1);
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    await expectAccessible(page);
    // The rest of the portal works.
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Orders' }).click();
    await rowOf(page, 'A-30').waitFor();
    await page.getByRole('link', { name: 'Developers' }).click();
    await page.getByText('This page could not be shown.').waitFor();
    await page.unroute(FILE);
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading(page, 'Developers').waitFor();
  });

  test('shows the message without a network, and loads by itself once it is back', async () => {
    const { person, review } = await openShop();
    const page = await openPageAs(portal, person, review);
    await rowOf(page, 'A-30').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Developers' }).click();
    await page.getByText('This page could not be shown.').waitFor();
    await page.context().setOffline(false);
    await heading(page, 'Developers').waitFor();
  });
});

describe('the account of the page', () => {
  test('is named in the sidebar for its holder, on a phone too', async () => {
    const { account, person, review } = await openShop();
    const page = await openPageAs(portal, person, review);
    const name = page.locator('.bar').getByText(await nameOf(account), { exact: true });
    await name.waitFor();
    await page.setViewportSize(PHONE.viewport);
    expect(await name.isVisible()).toBe(true);
    await expectAccessible(page);
  });

  test('is named for an operator, who switches to another one with the keyboard', async () => {
    const [one, other] = [await openShop(), await openShop()];
    const operator = await createPerson(stack, null);
    const page = await openPageAs(portal, operator, one.review);
    await rowOf(page, 'A-30').waitFor();
    const switcher = (name: string) => page.locator('.bar').getByRole('button', { name });
    const [oneName, otherName] = [await nameOf(one.account), await nameOf(other.account)];
    await switcher(oneName).click();
    await page.getByRole('dialog').getByRole('combobox').fill(otherName);
    await page.getByRole('option', { name: otherName, selected: true }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${other.review}`);
    await switcher(otherName).waitFor();
    await page.setViewportSize(PHONE.viewport);
    expect(await switcher(otherName).isVisible()).toBe(true);
    await expectAccessible(page);
  });
});

describe('a session that ends during work', () => {
  test('asks to sign in over the page, which keeps what is typed', async () => {
    const { person, review } = await openShop();
    const page = await openPageAs(portal, person, '/profile');
    await page.getByLabel('New password').fill('typed before the end');
    await page.getByLabel('Current password').fill(person.password);
    // What the person does, and no poll, finds the session ended.
    await intercept(page, '**/new-sign-ins', (route) => route.abort());
    await endSessions(person);
    await page.getByRole('button', { name: 'Change password' }).click();
    await endedDialog(page).getByText('Your session has ended. Sign in to continue.').waitFor();
    await expectAccessible(page);
    // Escape does not leave a page on which nothing works.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await endedDialog(page).isVisible()).toBe(true);
    await signInAgain(page, person);
    await endedDialog(page).waitFor({ state: 'detached' });
    expect(await page.getByLabel('New password').inputValue()).toBe('typed before the end');

    // Lists load again.
    await page.goto(portal.url + review);
    await rowOf(page, 'A-30').waitFor();
    await intercept(page, '**/orders/updates*', (route) => route.abort());
    await endSessions(person);
    await page.getByRole('searchbox').fill('A-4');
    await endedDialog(page).waitFor();
    await page.unroute('**/orders/updates*');
    await signInAgain(page, person);
    await rowOf(page, 'A-30').waitFor({ state: 'detached' });
    await rowOf(page, 'A-4').waitFor();
  });

  test('starts afresh when somebody else signs in', async () => {
    const { person, account } = await openShop();
    const colleague = await createPerson(stack, account.id);
    const page = await openPageAs(portal, person, '/profile');
    await page.getByLabel('New password').fill('typed by the first person');
    await endSessions(person);
    await page.getByLabel('Current password').fill(person.password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await endedDialog(page).waitFor();
    const reloaded = page.waitForEvent('load');
    await signInAgain(page, colleague);
    await reloaded;
    await rowOf(page, 'A-30').waitFor();
    await menuButton(page).click();
    await page.getByText(colleague.email).waitFor();
  });

  test('is not confused with a service that fails to answer about the session', async () => {
    const { person } = await openShop();
    const page = await openPage();
    await page.clock.install();
    await visitAs(page, portal, person, '/profile');
    await page.getByLabel('New password').fill('typed before the failure');
    await endSessions(person);
    await intercept(page, '**/api/session', (route) =>
      route.fulfill({ status: 503, json: { code: 'storage_unavailable' } }),
    );
    let failures = 0;
    page.on('response', (response) => {
      if (response.url().endsWith('/api/session')) failures += 1;
    });
    await page.getByLabel('Current password').fill(person.password);
    await page.getByRole('button', { name: 'Change password' }).click();
    // The page asks again until it gives up, and stays as it was.
    await until('the page gives up', async () => {
      await page.clock.fastForward(5000);
      return failures === 4;
    });
    await page.getByLabel('Current password').fill(person.password);
    expect(await endedDialog(page).count()).toBe(0);
    await page.unroute('**/api/session');
    await page.getByRole('button', { name: 'Change password' }).click();
    await endedDialog(page).waitFor();
    await signInAgain(page, person);
    await endedDialog(page).waitFor({ state: 'detached' });
    expect(await page.getByLabel('New password').inputValue()).toBe('typed before the failure');
  });
});

describe('the command palette', () => {
  test('opens an order in any state, by keyboard alone', async () => {
    const { account, person, review } = await openShop();
    const orderId = await insertOrder(knex, account.id, {
      order_number: 'Z-77',
      customer_name: 'Noura',
      review_state: 'confirmed',
      reviewed_at: new Date(),
      reviewed_by: person.email,
    });
    const page = await openPageAs(portal, person, review);
    await rowOf(page, 'A-30').waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('dialog [role=combobox]:focus').waitFor();
    await expectAccessible(page);
    await page.keyboard.type('Z-77');
    await page.getByRole('option', { name: 'Z-77' }).getByText('Noura · confirmed').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${review}/${orderId}?state=confirmed`);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('opens pages and changes the language, in Arabic too', async () => {
    const { person, review } = await openShop();
    const page = await openPageAs(portal, person, review, { locale: 'ar-AE' });
    await rowOf(page, 'A-30').waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('dialog [role=combobox]:focus').waitFor();
    await expectAccessible(page);
    await page.keyboard.type('نظرة');
    await page.getByRole('option', { name: 'نظرة عامة' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/overview');
    await page.keyboard.press('Control+k');
    await page.locator('dialog [role=combobox]:focus').waitFor();
    await page.keyboard.type('nothing like this');
    await page.getByText('لا توجد نتائج.').waitFor();
    await expectAccessible(page);
    await page.getByRole('combobox').fill('English');
    await page.getByRole('option', { name: 'English' }).click();
    await page.locator('html[lang="en"][dir="ltr"]').waitFor();
    await heading(page, 'Overview').waitFor();
  });

  test('opens with the key of K on an Arabic keyboard', async () => {
    const { person, review } = await openShop();
    const page = await openPageAs(portal, person, review, { locale: 'ar-AE' });
    await rowOf(page, 'A-30').waitFor();
    await page
      .locator('body')
      .dispatchEvent('keydown', { key: 'ن', code: 'KeyK', ctrlKey: true, bubbles: true, cancelable: true });
    await page.locator('dialog [role=combobox]:focus').waitFor();
  });

  test('receives what is typed before it is loaded, and no letter decides about an order', async () => {
    const { person, review } = await openShop();
    const page = await openPage();
    const decisions = watchDecisions(page);
    const release = await holdRequests(page, /command-palette.*js/);
    await visitAs(page, portal, person, review);
    await rowOf(page, 'A-30').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('curt');
    release();
    const input = page.locator('dialog [role=combobox]:focus');
    await input.waitFor();
    expect(await input.inputValue()).toBe('curt');
    expect(decisions).toEqual([]);
  });

  test('leaves the page as it was after Escape, and decides about no order', async () => {
    const { account, person, review } = await openShop();
    const page = await openPageAs(portal, person, review);
    await rowOf(page, 'A-30').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Control+k');
    await page.locator('dialog [role=combobox]:focus').waitFor();
    await page.keyboard.type('c');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('.order-number:focus', { hasText: 'A-30' }).waitFor();
    expect(await knex('orders').where({ account_id: account.id }).whereNot({ review_state: 'needs_review' })).toEqual(
      [],
    );
  });
});

describe('small things', () => {
  test('a language whose texts cannot be loaded is not chosen', async () => {
    const { person } = await openShop();
    const page = await openPageAs(portal, person, '/profile');
    await page.context().setOffline(true);
    await menuButton(page).click();
    await page.getByRole('radio', { name: 'العربية' }).click();
    await page.locator('.notice', { hasText: 'The portal cannot be reached.' }).waitFor();
    expect(await page.locator('html').getAttribute('dir')).toBe('ltr');
    await page.getByRole('link', { name: 'Profile and sessions' }).waitFor();
    // The choice is shown as it is, and can be made again.
    await page.context().setOffline(false);
    await page.getByRole('radio', { name: 'العربية' }).click();
    await page.locator('html[dir=rtl]').waitFor();
  });

  test('a notice stays while the focus is in it, and F8 moves the focus there and back', async () => {
    const { account, person, review } = await openShop();
    const page = await openPage({ isHurried: true });
    await page.clock.install();
    await visitAs(page, portal, person, review);
    await rowOf(page, 'A-30').getByRole('link').focus();
    await page.keyboard.press('j');
    await page.clock.fastForward(500);
    await page.keyboard.press('c');
    const undo = page.locator('.decision').getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    await page.keyboard.press('F8');
    await page.locator('.decision button:focus').waitFor();
    await extendUndoOf(stack, { account });
    // Longer than a notice is shown without the focus.
    await page.clock.fastForward(10_000);
    await page.keyboard.press('Enter');
    await rowOf(page, 'A-30').waitFor();
    await page.locator('.order-number:focus').waitFor();
    await expectAccessible(page);
  });

  test('the profile names browser and system in words', async () => {
    const { person } = await openShop();
    const page = await openPageAs(portal, person, '/profile');
    await page.getByText(/^Chrome( Headless)? \d+ on Linux$/).waitFor();
    await expectAccessible(page);
  });

  test('the title names the page, the account and the open order', async () => {
    const { account, person, review } = await openShop();
    const page = await openPageAs(portal, person, review);
    const accountName = await nameOf(account);
    const titleIs = (title: string) => page.locator(`xpath=//title[.="${title}"]`).waitFor({ state: 'attached' });
    await titleIs(`Orders · ${accountName} · Orders`);
    await rowOf(page, 'A-7').getByRole('link').click();
    await titleIs(`A-7 · ${accountName} · Orders`);
    await page.keyboard.press('Escape');
    await titleIs(`Orders · ${accountName} · Orders`);
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await titleIs(`Receipts · ${accountName} · Orders`);
    await page.goto(`${portal.url}/profile`);
    await titleIs('Profile and sessions · Orders');
  });

  test('an account that does not exist offers no further try', async () => {
    const operator = await createPerson(stack, null);
    const page = await openPageAs(portal, operator, '/accounts/999999/receipts');
    await page.getByText('There is no account with this id.').first().waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });
});

describe('test mode', () => {
  test('has a switch in the menu of developers, says on each page that it is on, and leads back', async () => {
    const { account, person } = await openShop();
    const page = await openPageAs(portal, person, `/accounts/${account.id}/shops`);
    await menuButton(page).click();
    await page.getByRole('switch', { name: 'Test mode' }).click();
    const note = page.getByText('Test mode: orders here are never dispatched');
    await note.waitFor();
    const id = (await knex('accounts').where({ test_of: account.id }).first()).account_id;
    expect(new URL(page.url()).pathname).toBe(`/accounts/${id}/shops`);
    await expectAccessible(page);
    await page.reload();
    await note.waitFor();
    await menuButton(page).click();
    expect(await page.getByRole('switch', { name: 'Test mode' }).getAttribute('aria-checked')).toBe('true');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Leave test mode' }).click();
    await rowOf(page, 'A-30').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/accounts/${account.id}/orders`);
    // Members without that right see it once a developer has opened it.
    const reviewer = await openPageAs(
      portal,
      await createPerson(stack, account.id, 'reviewer'),
      `/accounts/${account.id}/orders`,
    );
    await menuButton(reviewer).click();
    await reviewer.getByRole('switch', { name: 'Test mode' }).click();
    await reviewer.getByText('Test mode: orders here are never dispatched').waitFor();
    const other = await stack.account();
    const stranger = await openPageAs(
      portal,
      await createPerson(stack, other.id, 'reviewer'),
      `/accounts/${other.id}/orders`,
    );
    await menuButton(stranger).click();
    await stranger.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await stranger.getByRole('switch', { name: 'Test mode' }).count()).toBe(0);
  });

  test('is offered where developers would try things on the account itself, and not in test mode', async () => {
    const account = await stack.account();
    const developer = await createPerson(stack, account.id, 'developer');
    const page = await openPageAs(portal, developer, `/accounts/${account.id}/orders`);
    const offer = page.getByRole('button', { name: 'Turn on test mode' });
    await offer.waitFor();
    await expectAccessible(page);
    for (const tab of ['API keys', 'Try it']) {
      await page.getByRole('link', { name: 'Developers', exact: true }).click();
      await page.getByRole('link', { name: tab, exact: true }).click();
      await offer.waitFor();
      await expectAccessible(page);
    }
    // Clicked twice, it stays on.
    await offer.dblclick();
    await page.getByText('Test mode: orders here are never dispatched').waitFor();
    const [{ account_id: id }] = await knex('accounts').where({ test_of: account.id });
    expect(page.url()).toMatch(new RegExp(`/accounts/${id}/developers\\?tab=try$`));
    await page.getByRole('heading', { name: 'Developers' }).waitFor();
    expect(await offer.count()).toBe(0);
  });

  test('marks the account in the list of operators', async () => {
    const account = await stack.account();
    const tests = await stack.account();
    await knex('accounts').where({ account_id: tests.id }).update({ test_of: account.id });
    const page = await openPageAs(portal, await createPerson(stack, null), '/operator');
    const rowOfAccount = async ({ id }: { id: number }) => {
      await page.getByRole('searchbox').fill(String(id));
      return page.getByRole('row', { name: new RegExp(`#${id}\\b`) });
    };
    await (await rowOfAccount(tests)).getByText('test account', { exact: true }).waitFor();
    await expectAccessible(page);
    const live = await rowOfAccount(account);
    await live.waitFor();
    expect(await live.getByText('test account', { exact: true }).count()).toBe(0);
  });
});
