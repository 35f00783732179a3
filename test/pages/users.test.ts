import { beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, openPage, openPageAs } from '../harness/browser.ts';
import { createPerson, signIn, type TestPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const describe = describeWith('chromium');
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', locale: 'ar' } as const;

const { stack, knex, portal } = useStack({ portal: true });

async function expectFits(page: Page): Promise<void> {
  await expectAccessible(page);
  const [width, inner] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, window.innerWidth]');
  expect(width).toBe(inner);
}

const rowOf = (page: Page, { email }: TestPerson) => page.getByRole('row').filter({ hasText: email });
const gone = (page: Page) => page.locator('dialog').waitFor({ state: 'detached' });

async function openAccount() {
  const { id } = await stack.account();
  const [owner, viewer] = [await createPerson(stack, id), await createPerson(stack, id, 'viewer')];
  return { id, owner, viewer, path: `/accounts/${id}/users` };
}

describe('the users of an account', () => {
  test('are invited with a role by an owner, who must choose one', async () => {
    const { id, owner, path } = await openAccount();
    const page = await openPageAs(portal, owner, path);
    await page.getByRole('button', { name: 'Invite a user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail address').fill('mariam@example.test');
    await dialog.getByRole('button', { name: 'Create a link' }).click();
    // Without a role nothing is sent.
    expect(
      await dialog.getByRole('radio', { name: 'viewer', exact: true }).evaluate((input) => input.matches(':invalid')),
    ).toBe(true);
    await expectFits(page);
    await dialog.getByRole('radio', { name: 'reviewer', exact: true }).check();
    await dialog.getByRole('button', { name: 'Create a link' }).click();
    await page.getByRole('heading', { name: 'Link for mariam@example.test' }).waitFor();
    await expectFits(page);
    const link = (await dialog.locator('code').textContent()) as string;
    // A browser lets a page prevent only the first of these.
    for (const _ of [1, 2, 3]) await page.keyboard.press('Escape');
    await page.getByText('It is not shown again. Copy it first').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await dialog.locator('code').textContent()).toBe(link);
    await expectFits(page);
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    await gone(page);
    await page.goto(link);
    await page.getByText('Role: reviewer').waitFor();
    const invited = { email: 'mariam@example.test', account_id: id, member_role: 'reviewer' };
    expect(await knex('invitations').where(invited)).toHaveLength(1);
  });

  test('are listed while they are invited; an owner makes a new link, and withdraws it', async () => {
    const { owner, path } = await openAccount();
    const client = await signIn(portal, owner);
    const email = 'latifa@example.test';
    const { body } = await client.post(path, { email, role: 'developer' });
    const page = await openPageAs(portal, owner, path, { permissions: ['clipboard-read', 'clipboard-write'] });
    const row = page.getByRole('row').filter({ hasText: email });
    await row.getByText('developer').waitFor();
    await row.getByText(owner.email).waitFor();
    await expectFits(page);
    await page.getByRole('button', { name: `New link: ${email}` }).click();
    await expectFits(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'New link' }).click();
    await page.getByRole('heading', { name: `Link for ${email}` }).waitFor();
    expect(await dialog.locator('code').textContent()).not.toBe(body.link);
    await dialog.getByRole('button', { name: 'Copy the link' }).click();
    await dialog.getByText('Copied').waitFor();
    // What was copied needs no question.
    await page.keyboard.press('Escape');
    await gone(page);
    await page.getByRole('button', { name: `Withdraw: ${email}` }).click();
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await knex('invitations').where({ email })).toEqual([]);
  });

  test('get another role and are removed, and both apply at once', async () => {
    const { id, owner, viewer, path } = await openAccount();
    const client = await signIn(portal, viewer);
    const permissions = async () => (await client.get('/session')).body.accounts?.[0].permissions;
    const page = await openPageAs(portal, owner, path);
    await rowOf(page, viewer).getByText('viewer', { exact: true }).waitFor();
    await act(page, 'Change role', viewer);
    await page.getByRole('radio', { name: 'developer', exact: true }).check();
    await expectFits(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, viewer).getByText('developer', { exact: true }).waitFor();
    expect(await permissions()).toEqual(['read', 'develop']);
    await act(page, 'Remove', viewer);
    await page.getByText('can no longer open this account').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await rowOf(page, viewer).waitFor({ state: 'detached' });
    expect((await client.get(`/accounts/${id}`)).body.code).toBe('not_signed_in');
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('link', { name: 'Activity log' }).click();
    await page.getByText('Changed the role of a user').waitFor();
    await page.getByText('Role before: viewer').waitFor();
    await page.getByText('Role: developer').first().waitFor();
  });

  test('keep an owner: the last one can neither leave nor take another role', async () => {
    const { owner, viewer, path } = await openAccount();
    const page = await openPageAs(portal, owner, path);
    const refusal = page.getByRole('dialog').getByText('would be left without an owner');
    await act(page, 'Change role', owner);
    await page.getByRole('radio', { name: 'viewer', exact: true }).check();
    await page.getByText('You will no longer be an owner and cannot manage users.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await refusal.waitFor();
    await page.keyboard.press('Escape');
    await act(page, 'Remove', owner);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await refusal.waitFor();
    await page.keyboard.press('Escape');
    await gone(page);
    // With a second owner it is possible, and then the page is no longer theirs.
    await act(page, 'Change role', viewer);
    await page.getByRole('radio', { name: 'owner', exact: true }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, viewer).getByText('owner', { exact: true }).waitFor();
    await act(page, 'Change role', owner);
    await page.getByRole('radio', { name: 'viewer', exact: true }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your role in this account does not permit this').waitFor();
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0);
  });

  test('are listed accessibly on a dark phone in Arabic', async () => {
    const { owner, path } = await openAccount();
    const page = await openPageAs(portal, owner, path, PHONE);
    await page.getByRole('row').nth(2).waitFor();
    await expectFits(page);
    await page.getByRole('button', { name: 'دعوة مستخدم' }).click();
    await page.getByRole('radio', { name: 'مُراجع' }).check();
    await expectFits(page);
  });
});

describe('an invitation to another account', () => {
  const invite = async (person: TestPerson) => {
    const { id, owner } = await openAccount();
    const client = await signIn(portal, owner);
    const { body } = await client.post(`/accounts/${id}/users`, { email: person.email, role: 'developer' });
    return { id, link: body.link as string };
  };

  test('is accepted after signing in with the own password, and that account opens', async () => {
    const person = await createPerson(stack, undefined, 'viewer');
    const { id, link } = await invite(person);
    const page = await openPage();
    await page.goto(link);
    await page.getByText('You are a user already.').waitFor();
    await page.getByText('Role: developer').waitFor();
    await expectFits(page);
    expect(await page.getByLabel('Your name').count()).toBe(0);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Accept the invitation' }).waitFor();
    await expectFits(page);
    await page.getByRole('button', { name: 'Accept the invitation' }).click();
    await page.waitForURL(`${portal.url}/accounts/${id}/orders`);
    // The other account is one button away, and the link works once.
    await page.locator('button.bar-account').waitFor();
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText('This link is not valid, was used already, or has expired').waitFor();
  });

  test('is accepted at once by its person, and not by anybody else', async () => {
    const person = await createPerson(stack);
    const { id, link } = await invite(person);
    const page = await openPageAs(portal, await createPerson(stack), '/');
    await page.goto(link);
    await page.getByText('this link is for somebody else').waitFor();
    await expectFits(page);
    expect(await page.getByRole('button', { name: 'Accept the invitation' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are a user already.').waitFor();
    const own = await openPageAs(portal, person, '/');
    await own.goto(link);
    await own.getByRole('button', { name: 'Accept the invitation' }).click();
    await own.waitForURL(`${portal.url}/accounts/${id}/orders`);
  });
});

/** Chooses what to do with a user from their menu. */
async function act(page: Page, name: string, { email }: { email: string }): Promise<void> {
  await page.getByRole('button', { name: `Actions: ${email}` }).click();
  await page.getByRole('button', { name, exact: true }).click();
}

describe('a change of an operator', () => {
  beforeEach(() => knex('operator_changes').delete());

  test('is requested by one operator and approved by another, who gets the link', async () => {
    const [one, other] = [await createPerson(stack, null), await createPerson(stack, null)];
    const page = await openPageAs(portal, one, '/operator/users');
    await page.getByLabel('E-mail address').fill('hamad@example.test');
    await page.getByLabel('Role').selectOption('operator');
    expect(await page.getByLabel('Account', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Create a link' }).click();
    await page.getByText('The request waits for the approval of another operator.').waitFor();
    const card = page.getByRole('region', { name: 'Changes that wait for approval' });
    await card.getByText('Another operator must approve it.').waitFor();
    await card.getByText('is not enough to take over the service').waitFor();
    expect(await card.getByRole('button', { name: /^(Approve|Decline)/ }).count()).toBe(0);
    await expectFits(page);
    const second = await openPageAs(portal, other, '/operator/users');
    await second.getByRole('button', { name: 'Approve: Make hamad@example.test an operator' }).click();
    await second.getByText(`Ask ${one.email} about it first`).waitFor();
    await expectFits(second);
    await second.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await second.getByRole('heading', { name: 'Link for hamad@example.test' }).waitFor();
    await second.getByRole('button', { name: 'I have saved it' }).click();
    await gone(second);
    await second.getByText('Changes that wait for approval').waitFor({ state: 'detached' });
    await second.goto(`${portal.url}/operator/log`);
    await second.getByText('Approved a change of an operator').waitFor();
    await second.getByText('Change: a new operator').first().waitFor();
  });

  test('is declined by another operator and withdrawn by its own, and nothing changes', async () => {
    const [one, other] = [await createPerson(stack, null), await createPerson(stack, null)];
    const page = await openPageAs(portal, one, '/operator/users');
    const button = (name: string) => page.getByRole('button', { name });
    const confirm = async (name: string) => {
      await page.getByRole('dialog').getByRole('button', { name }).click();
      await gone(page);
    };
    await act(page, 'Remove', other);
    await confirm('Remove');
    await button(`Withdraw: Remove ${other.email}`).click();
    await confirm('Withdraw');
    await page.getByText('Nothing was changed.').waitFor();
    await act(page, 'Sign out everywhere', other);
    await confirm('Sign out everywhere');
    await button(`Withdraw: Sign ${other.email} out everywhere`).waitFor();
    const second = await openPageAs(portal, other, '/operator/users', PHONE);
    await second.getByRole('button', { name: /^رفض: إنهاء كل جلسات/ }).click();
    await expectFits(second);
    await second.getByRole('dialog').getByRole('button', { name: 'رفض' }).click();
    await gone(second);
    await second.getByText('تغييرات بانتظار الموافقة').waitFor({ state: 'detached' });
    expect(await knex('operator_changes')).toEqual([]);
    expect(await knex('users').where({ email: other.email })).toHaveLength(1);
  });
});
