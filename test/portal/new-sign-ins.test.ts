import { describe, expect, test } from '@jest/globals';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { removeOldSignIns } from '@orders/database/users/sign-in-attempts.ts';
import { removeUser } from '@orders/database/users/users.ts';
import type { Page } from 'playwright-core';
import { expectAccessible, openPage, openPageAs } from '../harness/browser.ts';
import { linkIn } from '../harness/mail-server.ts';
import { createPerson, openPortalClient, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { testWith } from '../harness/programs.ts';
import { addTotp } from '../harness/second-factors.ts';
import { useStack } from '../harness/use-stack.ts';

const testInBrowser = testWith('chromium');

const { stack, knex, db, portal, mailServer, person } = useStack({
  portal: true,
  mailServer: true,
  person: 'each test',
});

const newPerson = () => createPerson(stack);

/** The sessions that a client is asked about. */
const asked = async (client: PortalClient): Promise<{ session_id: string; can_confirm: boolean }[]> =>
  (await client.get('/new-sign-ins')).body.sign_ins;

const enter = ({ email, password }: TestPerson, client: PortalClient) => client.post('/session', { email, password });

const auditOf = ({ email }: TestPerson) =>
  knex('audit_events')
    .where({ subject: `user:${email}` })
    .whereLike('action', 'sign_in_%')
    .orderBy('event_id')
    .pluck('action');

describe('a sign-in from an unknown device', () => {
  test('is asked about in the user’s other sessions, not in itself, and is mailed once', async () => {
    const first = await signIn(portal, person);
    const second = await signIn(portal, person);
    const ofFirst = await asked(first);
    expect(ofFirst).toEqual([
      { session_id: expect.any(String), at: expect.any(String), user_agent: null, can_confirm: true },
    ]);
    const ofSecond = await asked(second);
    expect(ofSecond).toHaveLength(1);
    expect(ofSecond[0]?.session_id).not.toBe(ofFirst[0]?.session_id);
    await mailServer.mailTo(person.email, 2);
    expect(mailServer.mailsTo(person.email).map(({ parsed }) => parsed.subject)).toEqual(
      Array(2).fill('New sign-in · تسجيل دخول جديد'),
    );
  });

  test('is asked about at the next sign-in, even if the session was ended before', async () => {
    expect((await (await signIn(portal, person)).delete('/session')).status).toBe(204);
    expect(await asked(await signIn(portal, person))).toHaveLength(1);
  });

  test('is asked about where no mail is sent too', async () => {
    const silent = await stack.portal();
    await signIn(silent, person);
    expect(await asked(await signIn(silent, person))).toHaveLength(1);
    await silent.close();
  });

  test('is only the first one in a browser; for another user of it, the first one is new again', async () => {
    const other = await newPerson();
    const browser = openPortalClient(portal);
    for (const each of [person, person, other]) expect((await enter(each, browser)).status).toBe(204);
    expect(await asked(await signIn(portal, person))).toHaveLength(1);
    expect(await asked(await signIn(portal, other))).toHaveLength(1);
  });

  test('is not the one by an invitation, whose browser is known from then on, nor a change of the password', async () => {
    const { id: accountId } = await stack.account();
    const person = { email: `${accountId}@example.test`, name: 'New', password: 'long enough to be good', accountId };
    const invitation = { ...person, role: 'account_holder' as const };
    const token = await createInvitation(db, invitation, 'test', 3_600_000);
    const browser = openPortalClient(portal);
    const { name, password } = person;
    expect((await browser.post('/invitations/accept', { token, name, password })).status).toBe(204);
    const change = { current_password: password, new_password: 'another that is long' };
    expect((await browser.post('/password', change)).status).toBe(204);
    expect((await enter({ ...person, password: change.new_password }, browser)).status).toBe(204);
    expect(await asked(await signIn(portal, { ...person, password: change.new_password }))).toEqual([]);
  });

  test('is forgotten with the user and after 30 days, and at most 20 of a user are stored', async () => {
    for (let time = 0; time < 23; time += 1) await signIn(portal, person);
    const stored = () =>
      knex('unconfirmed_sign_ins as s').join('users as u', 'u.id', 's.user_id').where('email', person.email);
    expect(await stored()).toHaveLength(20);
    const [oldest] = await stored().orderBy('at').select('s.session_id');
    await knex('unconfirmed_sign_ins')
      .where(oldest)
      .update({ at: knex.raw("now() - interval '31 days'") });
    await removeOldSignIns(db);
    expect(await stored()).toHaveLength(19);
    await removeUser(db, person.email, 'test');
    expect(await stored()).toEqual([]);
  });
});

describe('the answer', () => {
  test('yes leaves the session, and is recorded', async () => {
    const [first, second] = [await signIn(portal, person), await signIn(portal, person)];
    const [question] = await asked(first);
    const answer = () => first.post(`/new-sign-ins/${question?.session_id}`, { was_me: true });
    expect((await answer()).status).toBe(204);
    expect(await asked(first)).toEqual([]);
    expect((await second.get('/session')).status).toBe(200);
    // The second time there is nothing to answer.
    expect((await answer()).status).toBe(204);
    expect(await auditOf(person)).toEqual(['sign_in_confirmed']);
  });

  test('no ends the session, and is recorded', async () => {
    const [first, second] = [await signIn(portal, person), await signIn(portal, person)];
    const [question] = await asked(first);
    expect((await first.post(`/new-sign-ins/${question?.session_id}`, { was_me: false })).status).toBe(204);
    expect((await second.get('/session')).body.code).toBe('not_signed_in');
    expect((await first.get('/session')).status).toBe(200);
    expect(await auditOf(person)).toEqual(['sign_in_disowned']);
  });

  test('yes is not taken from a later session, except with a second factor, and no is', async () => {
    const home = await signIn(portal, person);
    const thief = await signIn(portal, person);
    const again = await signIn(portal, person);
    const [question] = (await asked(again)).filter(({ can_confirm }) => !can_confirm);
    expect((await asked(again)).map(({ can_confirm }) => can_confirm)).toEqual([false, false]);
    const path = `/new-sign-ins/${question?.session_id}`;
    expect((await again.post(path, { was_me: true })).status).toBe(204);
    expect(await asked(again)).toContainEqual(question);
    await again.post(path, { was_me: false });
    expect((await thief.get('/session')).body.code).toBe('not_signed_in');
    await addTotp(stack, again);
    const [ofHome] = await asked(again);
    expect(ofHome?.can_confirm).toBe(true);
    await again.post(`/new-sign-ins/${ofHome?.session_id}`, { was_me: true });
    expect(await asked(again)).toEqual([]);
    expect((await home.get('/session')).body.code).toBe('not_signed_in');
  });

  test('is not taken from the session itself, nor from another user', async () => {
    const other = await newPerson();
    const [first, second, theirs] = [
      await signIn(portal, person),
      await signIn(portal, person),
      await signIn(portal, other),
    ];
    const [question] = await asked(first);
    for (const client of [second, theirs])
      for (const was_me of [true, false])
        expect((await client.post(`/new-sign-ins/${question?.session_id}`, { was_me })).status).toBe(204);
    expect(await asked(first)).toEqual([question]);
    expect((await second.get('/session')).status).toBe(200);
    expect(await auditOf(person)).toEqual([]);
  });

  test('needs a session, a valid body and a page of the portal', async () => {
    const [first] = [await signIn(portal, person), await signIn(portal, person)];
    const [question] = await asked(first);
    const path = `/new-sign-ins/${question?.session_id}`;
    const nobody = openPortalClient(portal);
    expect((await nobody.get('/new-sign-ins')).body.code).toBe('not_signed_in');
    expect((await nobody.post(path, { was_me: true })).body.code).toBe('not_signed_in');
    for (const body of [{}, { was_me: 'true' }, { was_me: true, more: 1 }])
      expect((await first.post(path, body)).body.code).toBe('invalid_request');
    expect((await first.post('/new-sign-ins/a%00b', { was_me: true })).status).toBe(204);
    const reply = await fetch(`${portal.url}/api${path}`, { method: 'POST', headers: { Origin: 'https://evil.test' } });
    expect(((await reply.json()) as { code: string }).code).toBe('cross_site_request');
    expect(await asked(first)).toEqual([question]);
  });
});

describe('the page', () => {
  const question = (page: Page) => page.getByRole('region', { name: 'New sign-in' });

  testInBrowser('asks about a new sign-in, and Yes settles it', async () => {
    const page = await openPageAs(portal, person);
    await signIn(portal, person);
    await page.reload();
    await question(page)
      .getByText(/^New sign-in from Unknown browser on .+ Was it you\?$/)
      .waitFor();
    await expectAccessible(page);
    await question(page).getByRole('button', { name: 'Yes' }).click();
    await question(page).waitFor({ state: 'detached' });
    const reply = page.waitForResponse(`${portal.url}/api/new-sign-ins`);
    await page.reload();
    expect(await (await reply).json()).toEqual({ sign_ins: [] });
    await page.locator('.shell').waitFor();
    expect(await question(page).count()).toBe(0);
  });

  testInBrowser('asks the newer session once, and goes on asking the older ones', async () => {
    const older = await signIn(portal, person);
    const page = await openPageAs(portal, person);
    await question(page).getByRole('button', { name: 'Yes' }).click();
    await question(page).waitFor({ state: 'detached' });
    const reply = page.waitForResponse(`${portal.url}/api/new-sign-ins`);
    await page.reload();
    expect((await (await reply).json()).sign_ins).toMatchObject([{ can_confirm: false }]);
    await page.locator('.shell').waitFor();
    expect(await question(page).count()).toBe(0);
    expect(await asked(older)).toHaveLength(1);
    expect(await auditOf(person)).toEqual([]);
  });

  testInBrowser('ends a sign-in that was not the user’s, and leads to the change of the password', async () => {
    const other = await openPageAs(portal, person);
    const page = await openPageAs(portal, person);
    await question(page)
      .getByText(/^New sign-in from Chrome \d+ on Linux on /)
      .waitFor();
    await question(page).getByRole('button', { name: 'No: end it and change the password' }).click();
    await page.getByRole('heading', { name: 'Change your password' }).waitFor();
    await page.getByText('That session was ended. Now change your password.').waitFor();
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  testInBrowser('asks in Arabic', async () => {
    const page = await openPageAs(portal, person, '/', { locale: 'ar' });
    await signIn(portal, person);
    await page.reload();
    await page.getByRole('region', { name: 'تسجيل دخول جديد' }).getByRole('button', { name: 'نعم' }).waitFor();
  });
});

describe('a new password by mail, in the browser', () => {
  testInBrowser('from the sign-in page to the sign-in with the new password', async () => {
    const page = await openPage();
    await page.goto(portal.url);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('E-mail address').fill(person.email);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByRole('status').getByText(`If ${person.email} is the address of a user`).waitFor();
    await expectAccessible(page);

    const link = linkIn(await mailServer.mailTo(person.email));
    await page.goto(link);
    await page.getByText(`This sets a new password for ${person.email}`).waitFor();
    await expectAccessible(page);
    await page.getByLabel(/^New password/).fill('a new one that is long');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByText('Your new password is set. Sign in with it.').waitFor();
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByLabel('Password').fill('a new one that is long');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Orders' }).waitFor();

    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText('This link is not valid').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Ask for a new link' }).click();
    await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
  });

  testInBrowser('is in Arabic too, and where no mail is sent the page says to ask an operator', async () => {
    const page = await openPage({ locale: 'ar' });
    await page.goto(portal.url);
    await page.getByRole('link', { name: 'هل نسيت كلمة المرور؟' }).click();
    await page.getByRole('button', { name: 'إرسال الرابط' }).waitFor();
    const silent = await stack.portal();
    const other = await openPage();
    await other.goto(silent.url);
    await other.getByText('No access, or forgot your password? Ask the operator of the service for a link.').waitFor();
    expect(await other.getByRole('link', { name: 'Forgot your password?' }).count()).toBe(0);
    await other.context().close();
    await silent.close();
  });
});
