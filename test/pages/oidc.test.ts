import { beforeEach, expect } from '@jest/globals';
import { expectAccessible, openPage, openPageAs, visitAs } from '../harness/browser.ts';
import { testWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const testInBrowser = testWith('chromium');

const { stack, knex, portal, provider, person } = useStack({ portal: true, provider: 'localhost', person: true });

beforeEach(() => {
  provider.account = { sub: 'the-sub', email: person.email, email_verified: true };
  provider.fault = undefined;
});

const BUTTON = { name: 'Continue with Example ID' };

testInBrowser('the button leads to the provider, and back to the page that was open', async () => {
  const page = await openPage();
  await page.goto(`${portal.url}/accounts/${person.accountId}/receipts`);
  await page.getByRole('button', BUTTON).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', BUTTON).click();
  await page.getByRole('heading', { name: 'Receipts' }).waitFor();
  expect(page.url()).toBe(`${portal.url}/accounts/${person.accountId}/receipts`);
});

testInBrowser('a refusal is explained at the sign-in page, once', async () => {
  provider.account = null;
  const page = await openPage();
  await page.goto(portal.url);
  await page.getByRole('button', BUTTON).click();
  await page.getByRole('alert').filter({ hasText: 'the sign-in was cancelled, or declined' }).waitFor();
  await expectAccessible(page);
  await page.waitForURL(`${portal.url}/`);
  await page.reload();
  await page.getByRole('button', BUTTON).waitFor();
  expect(await page.getByText('the sign-in was cancelled, or declined').count()).toBe(0);
  // Only reasons that the portal gives.
  await page.goto(`${portal.url}/?identity_provider=button`);
  await page.getByRole('alert').filter({ hasText: 'could not be completed' }).waitFor();
});

testInBrowser('in Arabic too', async () => {
  provider.account = { sub: 'another-sub', email: 'nobody@example.test', email_verified: true };
  const page = await openPage({ locale: 'ar' });
  await page.goto(portal.url);
  await page.getByRole('button', { name: 'المتابعة باستخدام Example ID' }).click();
  await page.getByRole('alert').filter({ hasText: 'لا يوجد مستخدم بهذا البريد الإلكتروني' }).waitFor();
  await expectAccessible(page);
});

testInBrowser('while the provider is down, the button says so and the password still works', async () => {
  const other = await stack.portal(provider.settings);
  provider.fault = (_request, response) => response.destroy();
  const page = await openPage();
  await page.goto(other.url);
  await page.getByRole('button', BUTTON).click();
  await page.getByRole('alert').filter({ hasText: 'cannot be used right now' }).waitFor();
  await visitAs(page, other, person);
  await page.context().close();
  await other.close();
});

testInBrowser('where the session has ended, the page warns that going to the provider leaves it', async () => {
  const page = await openPageAs(portal, person, `/accounts/${person.accountId}/receipts`);
  await page.getByRole('heading', { name: 'Receipts' }).waitFor();
  await knex('user_sessions').delete();
  // A poll can open the dialog above the link before.
  const state = page.getByRole('navigation', { name: 'State' });
  await state.getByRole('link', { name: 'failed for good' }).dispatchEvent('click');
  const dialog = page.getByRole('dialog', { name: 'Sign in' });
  await dialog.getByText('This leaves the page: what you typed on it is lost.').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', BUTTON).click();
  await page.getByRole('heading', { name: 'Receipts' }).waitFor();
  await dialog.waitFor({ state: 'detached' });
});

testInBrowser('without a provider there is no button', async () => {
  const other = await stack.portal();
  const page = await openPage();
  const asked = page.waitForResponse(`${other.url}/api/session/oidc`);
  await page.goto(other.url);
  expect(await (await asked).json()).toEqual({ name: null });
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(await page.getByRole('button', { name: /Continue with/ }).count()).toBe(0);
  await page.context().close();
  await other.close();
});
