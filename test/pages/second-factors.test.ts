import { beforeAll, expect } from '@jest/globals';
import { freePort } from '@orders/test-services/ports.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, openPage, openPageAs, visitAs } from '../harness/browser.ts';
import { createPerson, signIn, type TestPerson } from '../harness/people.ts';
import { testWith } from '../harness/programs.ts';
import { addTotp, ageSessions, appOf, forgetTimeSteps, type TestApp } from '../harness/second-factors.ts';
import { type RunningPortal, TEST_HASH_COST } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const testInBrowser = testWith('chromium');
let portal: RunningPortal;

const { stack, knex, person } = useStack({ person: 'each test' });

beforeAll(async () => {
  const port = await freePort();
  // Browsers make no passkeys for an IP address.
  const url = `http://localhost:${port}`;
  const settings = {
    PORT: String(port),
    PORTAL_URL: url,
    OPERATOR_SECOND_FACTOR: 'required',
    PASSWORD_HASH_COST: TEST_HASH_COST,
  };
  portal = { ...(await stack.portal(settings)), url };
});

const newPerson = () => createPerson(stack);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Gives the browser a virtual authenticator, whose user is there. */
async function addAuthenticator(page: Page, isUserVerified = true): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
}

/** Signs in by the form, as far as the password goes. */
async function typePassword(page: Page, { email, password }: TestPerson): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await button(page, 'Sign in').click();
}

async function signOut(page: Page): Promise<void> {
  await page.context().clearCookies();
  await page.goto(portal.url);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

/** Takes the recovery codes that the page shows, and closes them. */
async function keepRecoveryCodes(page: Page): Promise<string[]> {
  const dialog = page.getByRole('dialog', { name: 'Recovery codes' });
  await dialog.waitFor();
  await expectAccessible(page);
  // Not by role, which finds nothing in what the page hides while it loads a part of itself.
  const codes = await page.locator('.recovery-codes li').allTextContents();
  await button(page, 'I have saved it').click();
  expect(codes).toHaveLength(10);
  return codes;
}

/** Sets up an authenticator app from the page, with the key as text. */
async function setUpApp(page: Page): Promise<TestApp> {
  await button(page, 'Set up an authenticator app').click();
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  await page.getByText('Type the key instead').click();
  await expectAccessible(page);
  const key = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
  const app = appOf(`otpauth://totp/x?secret=${key.replaceAll(' ', '')}`);
  await page.getByLabel('Code of your authenticator app').fill(await app.code());
  await button(page, 'Finish').click();
  return app;
}

testInBrowser('somebody adds a passkey, signs in with it, and removes it', async () => {
  const page = await openPage();
  await addAuthenticator(page);
  await page.goto(portal.url);
  await typePassword(page, person);
  await page.locator('.shell').waitFor();
  await page.goto(`${portal.url}/profile`);
  await page.getByLabel('Name of the new passkey').fill('My laptop');
  await button(page, 'Add a passkey').click();
  await keepRecoveryCodes(page);
  await page.getByText('My laptop', { exact: true }).waitFor();
  await page.getByText('10 recovery codes are left.').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Name of the new passkey').fill('Again');
  await button(page, 'Add a passkey').click();
  await page.getByText('This device already has a passkey of yours.').waitFor();
  await signOut(page);
  await expectAccessible(page);
  await button(page, 'Sign in with a passkey').click();
  await page.locator('.shell').waitFor();
  await signOut(page);
  await typePassword(page, person);
  await page.getByText('Now use your second factor.').waitFor();
  await expectAccessible(page);
  await button(page, 'Use a passkey').click();
  await page.locator('.shell').waitFor();
  await page.goto(`${portal.url}/profile`);
  await ageSessions(stack);
  await button(page, 'Remove the passkey My laptop').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  // The proof is asked for above the dialog that was open, and it goes on.
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByRole('button', { name: 'Use a passkey' }).click();
  await proof.waitFor({ state: 'detached' });
  await page.getByText('My laptop', { exact: true }).waitFor({ state: 'detached' });
});

testInBrowser('a passkey whose device does not check its user is not made', async () => {
  const page = await openPage();
  await addAuthenticator(page, false);
  await visitAs(page, portal, await newPerson(), '/profile');
  await page.getByLabel('Name of the new passkey').fill('Finder of the laptop');
  await button(page, 'Add a passkey').click();
  await page.getByText('No passkey was used.').waitFor();
});

testInBrowser('somebody sets up an authenticator app, and signs in with a code and with a recovery code', async () => {
  const page = await openPageAs(portal, person, '/profile');
  const app = await setUpApp(page);
  const [recoveryCode] = await keepRecoveryCodes(page);
  await page.getByText('After your password, the portal asks for a code of your app.').waitFor();
  await forgetTimeSteps(stack);
  await signOut(page);
  await typePassword(page, person);
  const field = page.getByLabel('Code of your authenticator app');
  await field.fill('123');
  await button(page, 'Continue').click();
  await field.fill((await app.code()) === '000000' ? '000001' : '000000');
  await button(page, 'Continue').click();
  await page.getByText('This code is wrong, has expired, or was used before.').waitFor();
  await expectAccessible(page);
  await field.fill(await app.code());
  await button(page, 'Continue').click();
  await page.locator('.shell').waitFor();
  await signOut(page);
  await typePassword(page, person);
  await button(page, 'Use a recovery code').click();
  await page.getByLabel('Recovery code').fill(recoveryCode as string);
  await button(page, 'Continue').click();
  await page.locator('.shell').waitFor();
  await page.goto(`${portal.url}/profile`);
  await page.getByText('9 recovery codes are left.').waitFor();
  await button(page, 'Create new recovery codes').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create new recovery codes' }).click();
  await keepRecoveryCodes(page);
  await page.getByText('10 recovery codes are left.').waitFor();
});

testInBrowser('a second step that took too long begins again', async () => {
  const { app } = await addTotp(stack, await signIn(portal, person));
  const page = await openPage();
  await page.goto(portal.url);
  await typePassword(page, person);
  await page.getByLabel('Code of your authenticator app').fill(await app.code());
  await knex('user_verifications').update({ expires_at: new Date(0) });
  await button(page, 'Continue').click();
  await page.getByText('This took too long').waitFor();
  await button(page, 'Start again').click();
  await page.getByLabel('Password', { exact: true }).waitFor();
});

testInBrowser('a change that needs a recent proof asks for it, and goes on after it', async () => {
  const page = await openPageAs(portal, person, `/accounts/${person.accountId}/users`);
  const required = page.getByRole('switch', { name: 'Require a second factor' });
  await required.waitFor();
  await ageSessions(stack);
  await required.click();
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await dialog.waitFor();
  await expectAccessible(page);
  await button(page, 'Cancel').click();
  await page.getByText('Confirm that it is you to do this.').waitFor();
  await required.click();
  await dialog.getByLabel('Password').fill('not this one');
  await button(page, 'Confirm').click();
  await dialog.getByText('The password is wrong.').waitFor();
  await dialog.getByLabel('Password').fill(person.password);
  await button(page, 'Confirm').click();
  // The change was made, and concerns the owner too.
  await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
});

testInBrowser('the proof of somebody with an authenticator app takes a code', async () => {
  const { app } = await addTotp(stack, await signIn(portal, person));
  const page = await openPage();
  await page.goto(portal.url);
  await typePassword(page, person);
  await page.getByLabel('Code of your authenticator app').fill(await app.code());
  await button(page, 'Continue').click();
  await page.locator('.shell').waitFor();
  await page.goto(`${portal.url}/accounts/${person.accountId}/users`);
  const required = page.getByRole('switch', { name: 'Require a second factor' });
  await required.waitFor();
  await ageSessions(stack);
  await forgetTimeSteps(stack);
  await required.click();
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await dialog.getByLabel('Password').fill(person.password);
  await dialog.getByLabel('Code of your authenticator app').fill(await app.code());
  await expectAccessible(page);
  await button(page, 'Confirm').click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('switch', { name: 'Require a second factor', checked: true }).waitFor();
});

testInBrowser('an operator without a second factor is led to set one up, and later to confirm it', async () => {
  const operator = await createPerson(stack, null);
  const page = await openPage();
  await page.goto(`${portal.url}/operator/users`);
  await typePassword(page, operator);
  await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
  expect(await page.locator('.shell').count()).toBe(0);
  await expectAccessible(page);
  // A session of before that was stored.
  await knex('user_sessions').update({ authenticated_at: null });
  await button(page, 'Set up an authenticator app').click();
  await page.getByRole('dialog', { name: 'Confirm that it is you' }).getByLabel('Password').fill(operator.password);
  await button(page, 'Confirm').click();
  await page.getByRole('dialog', { name: 'Set up the app' }).waitFor();
  await button(page, 'Cancel').click();
  const app = await setUpApp(page);
  await keepRecoveryCodes(page);
  await page.getByRole('heading', { name: 'Users' }).waitFor();
  await knex('user_sessions').update({ second_factor: false });
  await forgetTimeSteps(stack);
  await page.reload();
  await page.getByText('You need your second factor to use this portal.').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Password').fill(operator.password);
  await page.getByLabel('Code of your authenticator app').fill(await app.code());
  await button(page, 'Confirm').click();
  await page.getByRole('heading', { name: 'Users' }).waitFor();
});

testInBrowser('an operator resets the second factor of somebody', async () => {
  const [operator, person] = [await createPerson(stack, null), await newPerson()];
  await addTotp(stack, await signIn(portal, person));
  const page = await openPage();
  await page.goto(`${portal.url}/operator/users?account=${person.accountId}`);
  await typePassword(page, operator);
  await setUpApp(page);
  await keepRecoveryCodes(page);
  await button(page, `Actions: ${person.email}`).click();
  await button(page, 'Reset second factor').click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Reset second factor' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect((await signIn(portal, person)).get).toBeDefined();
});

testInBrowser('the pages are there in Arabic', async () => {
  const operator = await createPerson(stack, null);
  const page = await openPage({ locale: 'ar' });
  await page.goto(portal.url);
  await page.locator('input[type="email"]').fill(operator.email);
  await page.locator('input[type="password"]').fill(operator.password);
  await button(page, 'تسجيل الدخول').click();
  await page.getByRole('heading', { name: 'إعداد عامل ثانٍ' }).waitFor();
  await expectAccessible(page);
  await button(page, 'إعداد تطبيق مصادقة').click();
  await page.getByRole('dialog', { name: 'إعداد التطبيق' }).waitFor();
  await expectAccessible(page);
});
