import { expect, test } from '@jest/globals';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { hashPassword } from '@orders/database/users/passwords.ts';
import { findUser } from '@orders/database/users/users.ts';
import { createPasswordReset } from '@orders/portal/sign-in/password-reset-routes.ts';
import { codeOf } from '../harness/api.ts';
import { expectAccessible, openPage, openPageAs } from '../harness/browser.ts';
import { createPerson, openPortalClient, signIn } from '../harness/people.ts';
import { testWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const testInBrowser = testWith('chromium');

const { stack, knex, db, portal, person } = useStack({ portal: true, person: true });

const credentials = ({ email } = person) =>
  knex('user_credentials').whereIn('user_id', knex('users').where({ email }).select('id'));

test.each([
  ['https://orders.example.com', '16'],
  ['https://localhost.example.com', '16'],
  ['http://localhost:8081', '9'],
  ['https://orders.example.com', '21'],
  ['https://orders.example.com', 'high'],
])('for a portal at %s, PASSWORD_HASH_COST=%s is a configuration error', async (url, cost) => {
  const started = stack.portal({ PORTAL_URL: url, PASSWORD_HASH_COST: cost }).then(() => 'it started');
  const message = await started.catch((error: Error) => error.message);
  expect(message).toMatch(/^Configuration: PASSWORD_HASH_COST [^\n]+\.$/);
});

test.each([
  ['https://orders.example.com', '17'],
  ['https://orders.example.com', ''],
  ['http://localhost:8081', '10'],
])('a portal at %s may have PASSWORD_HASH_COST=%s', async (url, cost) => {
  const portal = await stack.portal({ PORTAL_URL: url, PASSWORD_HASH_COST: cost });
  await portal.close();
});

test('a cheaper hash works, and is replaced at the next successful sign-in, which ends no session', async () => {
  const portal = await stack.portal({ PASSWORD_HASH_COST: '17' });
  const user = await createPerson(stack, person.accountId);
  const client = await signIn(portal, user);
  const [{ id }] = await credentials(user).select('id');
  const old = await hashPassword(user.password, 16);
  await credentials(user).update({ password: old });
  const another = openPortalClient(portal);
  expect((await another.post('/session', { email: user.email, password: 'not this one' })).status).toBe(401);
  expect(await credentials(user).pluck('password')).toEqual([old]);
  expect((await another.post('/session', { email: user.email, password: user.password })).status).toBe(204);
  expect(await credentials(user).select('id', 'password')).toEqual([
    { id, password: expect.stringMatching(/^\$scrypt\$ln=17,r=8,p=1\$/) },
  ]);
  expect((await client.get('/session')).status).toBe(200);
  expect((await another.post('/session', { email: user.email, password: user.password })).status).toBe(204);
  await portal.close();
});

test.each([
  ['password_pattern', '123456789012345'],
  ['password_common', 'P@ssw0rdqwerty12'],
  ['password_context', () => person.email],
  ['string_min', 'e\u0301'.repeat(14)],
])('a new password is refused with %s, and the old one and the invitation stay valid', async (code, given) => {
  const password = typeof given === 'string' ? given : given();
  const client = await signIn(portal, person);
  const before = await credentials().pluck('password');
  const changed = await client.post('/password', { current_password: person.password, new_password: password });
  expect([changed.status, changed.body.code, changed.body.errors]).toMatchObject([
    422,
    'invalid_request',
    [{ pointer: '/new_password', code }],
  ]);
  const token = await createInvitation(db, { ...person, role: 'account_holder' }, 'test', 3_600_000);
  const accepted = await client.post('/invitations/accept', { token, name: person.name, password });
  expect([accepted.status, accepted.body.errors]).toMatchObject([422, [{ pointer: '/password', code }]]);
  expect(await credentials().pluck('password')).toEqual(before);
  expect((await client.post('/invitations/lookup', { token })).status).toBe(200);
  expect((await client.get('/session')).status).toBe(200);
});

test('only 20 new passwords are estimated in a quarter of an hour, with a link or with the current password', async () => {
  await knex('sign_in_attempts').delete();
  const client = await signIn(portal, person);
  const token = await createInvitation(db, { ...person, role: 'account_holder' }, 'test', 3_600_000);
  const reset = await createPasswordReset(db, (await findUser(db, person.email))?.user_id ?? '', 3_600_000);
  const weak = '123456789012345';
  const change = (current: string) => client.post('/password', { current_password: current, new_password: weak });
  const accept = (password: string) => client.post('/invitations/accept', { token, name: person.name, password });
  // Nothing is estimated for somebody who does not know the password.
  expect((await change('not this one')).body.code).toBe('wrong_credentials');
  for (let time = 0; time < 19; time += 1) expect((await accept(weak)).status).toBe(422);
  expect((await change(person.password)).status).toBe(422);
  for (const reply of [
    await change(person.password),
    await accept('camels carry seven lemons'),
    await client.post('/password-resets/use', { token: reset, password: weak }),
  ]) {
    expect(codeOf(reply)).toEqual([429, 'too_many_attempts']);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  }
  await knex('sign_in_attempts').delete();
  expect((await change(person.password)).status).toBe(422);
});

testInBrowser('the form says in both languages what is wrong with a new password, at its field', async () => {
  const visitor = await createPerson(stack, person.accountId);
  const page = await openPageAs(portal, visitor, '/profile');
  const current = page.locator('input[autocomplete="current-password"]');
  const next = page.locator('input[autocomplete="new-password"]');
  await current.fill(visitor.password);
  await next.fill('123456789012345');
  await next.press('Enter');
  await page.getByText('This password repeats characters or words').waitFor();
  expect(await next.getAttribute('aria-invalid')).toBe('true');
  expect(await current.getAttribute('aria-invalid')).toBeNull();
  await expectAccessible(page);
  const token = await createInvitation(db, { ...person, role: 'account_holder' }, 'test', 3_600_000);
  const arabic = await openPage({ locale: 'ar-AE' });
  await arabic.goto(`${portal.url}/invitation#${token}`);
  const password = arabic.locator('input[autocomplete="new-password"]');
  await password.fill(person.email);
  await password.press('Enter');
  await arabic.getByText('تكاد كلمة المرور هذه تقتصر').waitFor();
});
