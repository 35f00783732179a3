import { describe, expect, test } from '@jest/globals';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { removeOldSignIns } from '@orders/database/users/sign-in-attempts.ts';
import { removeUser } from '@orders/database/users/users.ts';
import { expectAccessible, openPage, openPageAs, visitAs } from '../harness/browser.ts';
import { startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { watchHashes } from '../harness/hashes.ts';
import { createPerson, openPortalClient, openShop, signIn, type TestPerson } from '../harness/people.ts';
import { testWith } from '../harness/programs.ts';
import { startStack } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const testInBrowser = testWith('chromium');

const { stack, knex, db, portal, person } = useStack({ portal: true, person: 'each test' });

const newPerson = () => createPerson(stack);

/** Sends a request like the proxy, with the address of a client. */
function ask(path: string, body: object | string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${portal.url}/api${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: portal.url, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const attempt = async (email: string, password: string, network: string) =>
  (await ask('/session', { email, password }, { 'X-Forwarded-For': network })).status;

// biome-ignore lint/suspicious/noExplicitAny: each test knows the type of its reply.
const bodyOf = (reply: Response): Promise<any> => reply.json();

/** Documentation networks (RFC 5737), a different one for each test. */
let networks = 0;
const newNetwork = () => `203.0.113.${++networks}`;

describe('signing in', () => {
  test('a person signs in, sees their name and signs out', async () => {
    const client = await signIn(portal, person);
    const { status, body } = await client.get('/session');
    expect([status, body.email, body.role, body.accounts[0].account_id]).toEqual([
      200,
      person.email,
      'account_holder',
      person.accountId,
    ]);
    expect((await client.delete('/session')).status).toBe(204);
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
  });

  testInBrowser('without a word on the console', async () => {
    const page = await openPage();
    await page.goto(portal.url);
    await page.locator('form').waitFor();
    await expectAccessible(page);
    await visitAs(page, portal, person);
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
  });

  testInBrowser('where the session has ended the sign-in appears, and what was open comes back by it', async () => {
    const page = await openPageAs(portal, person, `/accounts/${person.accountId}/receipts`);
    await page.getByRole('heading', { name: 'Receipts' }).waitFor();
    await knex('user_sessions').delete();
    // A poll can open the sign-in above the link before.
    const state = page.getByRole('navigation', { name: 'State' });
    await state.getByRole('link', { name: 'failed for good' }).dispatchEvent('click');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.locator('input[type="email"]').fill(person.email);
    await page.locator('input[type="password"]').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Nothing failed for good').waitFor();
  });

  test('the cookie is HttpOnly and limited to this host, and Secure on https', async () => {
    const { email, password } = person;
    const plain = await ask('/session', { email, password });
    expect(plain.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^orders\.session_token=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(
        /^orders\.device_[\w-]{8}=[\w.-]+; Max-Age=7776000; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
      ),
    ]);
    const origin = 'https://orders.example.com';
    const secure = await stack.portal({ PORTAL_URL: origin });
    const reply = await fetch(`${secure.url}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify({ email, password }),
    });
    const [cookie = '', device] = reply.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-orders\.session_token=[^;]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(device).toMatch(
      /^__Host-orders\.device_[\w-]{8}=[\w.-]+; Max-Age=7776000; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(reply.headers.get('Strict-Transport-Security')).toMatch(/^max-age=31536000/);
    const known = await fetch(`${secure.url}/api/session`, { headers: { Cookie: cookie.split(';')[0] as string } });
    expect(known.status).toBe(200);
    await secure.close();
  });

  test('an unknown address is rejected with the same message and after the same work', async () => {
    const { email } = person;
    const hashesFor = async (address: string) => {
      const stop = watchHashes();
      const reply = await ask(
        '/session',
        { email: address, password: 'not this one' },
        { 'X-Forwarded-For': newNetwork() },
      );
      expect([reply.status, (await bodyOf(reply)).detail]).toEqual([
        401,
        'The e-mail address or the password is wrong.',
      ]);
      return stop().total;
    };
    // A hash takes far longer than the rest.
    expect([await hashesFor('nobody@example.test'), await hashesFor(email)]).toEqual([1, 1]);
  });

  test.each([
    [
      'a member that is not asked for',
      '{"email":"a@example.test","password":"x","callbackURL":"https://evil.test"}',
      422,
    ],
    ['a member of the prototype', '{"email":"a@example.test","__proto__":{"password":"x"}}', 422],
    ['an object instead of a string', '{"email":{"$ne":null},"password":{"$ne":null}}', 422],
    ['a password without end', JSON.stringify({ email: 'a@example.test', password: 'x'.repeat(200) }), 422],
    ['too much', JSON.stringify({ email: 'a@example.test', password: 'x'.repeat(70_000) }), 413],
    ['no JSON', '{"email":', 400],
  ])('%s is rejected', async (_, body, status) => {
    expect((await ask('/session', body)).status).toBe(status);
  });

  test('requests from pages of other sites are rejected, also for every other change', async () => {
    const { email, password } = person;
    for (const headers of [
      { Origin: 'https://evil.test' },
      { Origin: 'null' },
      { Origin: `${portal.url}.evil.test` },
    ]) {
      const reply = await ask('/session', { email, password }, headers);
      expect([reply.status, (await bodyOf(reply)).code]).toEqual([403, 'cross_site_request']);
      expect(reply.headers.getSetCookie()).toEqual([]);
    }
    const none = await fetch(`${portal.url}/api/session`, { method: 'POST', body: '{}' });
    expect((await bodyOf(none)).code).toBe('cross_site_request');
  });

  test('a page at another name of this machine is sent to the portal’s own address', async () => {
    const path = '//a/orders?q=1';
    const other = portal.url.replace('127.0.0.1', 'localhost');
    const { status, headers } = await fetch(other + path, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, portal.url + path]);
    expect((await fetch(portal.url + path, { redirect: 'manual' })).status).toBe(200);
  });
});

describe('guessing passwords', () => {
  test('is blocked after ten failures for an address from one network, and the owner can sign in from another', async () => {
    const { email, password } = person;
    const [attackerNetwork, owner] = [newNetwork(), newNetwork()];
    for (let guess = 0; guess < 10; guess += 1)
      expect(await attempt(email, `guess ${guess}`, attackerNetwork)).toBe(401);
    const refused = await ask('/session', { email, password }, { 'X-Forwarded-For': attackerNetwork });
    expect([refused.status, (await bodyOf(refused)).code]).toEqual([429, 'too_many_attempts']);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await attempt(email, password, owner)).toBe(204);
    // Blocked attempts do not count against the owner.
    for (let guess = 0; guess < 120; guess += 1) expect(await attempt(email, 'more', attackerNetwork)).toBe(429);
    expect(await attempt(email, password, owner)).toBe(204);
    await knex('sign_in_attempts').update({ window_to: new Date(0) });
    expect(await attempt(email, password, attackerNetwork)).toBe(204);
  });

  test('in parallel is blocked after as many attempts as in sequence', async () => {
    const { email } = person;
    const network = newNetwork();
    for (let guess = 0; guess < 5; guess += 1) expect(await attempt(email, 'guess', network)).toBe(401);
    // As many as one network may have under way.
    const statuses = await Promise.all(Array.from({ length: 10 }, () => attempt(email, 'guess', network)));
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  });

  test('from many networks blocks the address for everybody for a quarter of an hour', async () => {
    const { email, password } = person;
    expect(await attempt(email, 'guess', newNetwork())).toBe(401);
    await knex('sign_in_attempts').increment('attempts', 99);
    expect(await attempt(email, password, newNetwork())).toBe(429);
    await knex('sign_in_attempts').update({ window_to: new Date(0) });
    expect(await attempt(email, password, newNetwork())).toBe(204);
  });

  test('is blocked even if the guesser also signs in to another account', async () => {
    const other = await newPerson();
    const network = newNetwork();
    for (let guess = 0; guess < 10; guess += 1) {
      expect(await attempt(other.email, `guess ${guess}`, network)).toBe(401);
      expect(await attempt(person.email, person.password, network)).toBe(204);
    }
    expect(await attempt(other.email, other.password, network)).toBe(429);
  });

  test('from one IPv6 network counts as from one address', async () => {
    const { email } = person;
    for (let guess = 0; guess < 10; guess += 1)
      expect(await attempt(email, 'guess', `2001:db8::${guess + 1}`)).toBe(401);
    expect(await attempt(email, 'guess', '2001:db8:0:0:ffff::1')).toBe(429);
    expect(await attempt(email, 'guess', '2001:db8:0:1::1')).toBe(401);
  });

  test('leaves no records after their time', async () => {
    await knex('sign_in_attempts').update({ window_to: new Date(0) });
    const client = await signIn(portal, person);
    await removeOldSignIns(db);
    expect(await knex('sign_in_attempts').where('window_to', '<', new Date(1))).toEqual([]);
    expect((await client.get('/session')).status).toBe(200);
    await knex('user_sessions').update({ expires_at: knex.fn.now() });
    await removeOldSignIns(db);
    expect(await knex('user_sessions')).toEqual([]);
  });
});

describe('a session', () => {
  const sessionsOf = ({ email }: TestPerson) =>
    knex('user_sessions as s').join('users as u', 'u.id', 's.user_id').where('u.email', email);

  test('is renewed with its cookie while it is used', async () => {
    const client = await signIn(portal, person);
    expect((await client.get('/session')).headers['set-cookie']).toBeUndefined();
    await knex.raw("update user_sessions set expires_at = expires_at - interval '2 hours'");
    const { headers } = await client.get('/session');
    expect(String(headers['set-cookie'])).toContain('Max-Age=43200');
    const [{ expires_at }] = await sessionsOf(person).select('s.expires_at');
    expect((expires_at.getTime() - Date.now()) / 3_600_000).toBeCloseTo(12, 1);
  });

  test('is not renewed by what a hidden page polls', async () => {
    const shop = await openShop(stack, portal);
    await knex.raw("update user_sessions set expires_at = expires_at - interval '2 hours'");
    const [before] = await sessionsOf(shop.person).select('s.expires_at');
    const hidden = await shop.get('/orders/updates?after=0&background=true');
    expect([hidden.status, hidden.headers['set-cookie']]).toEqual([200, undefined]);
    expect(await sessionsOf(shop.person).select('s.expires_at')).toEqual([before]);
    expect((await shop.get('/orders/updates?after=0')).headers['set-cookie']).toBeDefined();
  });

  test('is invalid after its expiry', async () => {
    const client = await signIn(portal, person);
    await knex('user_sessions').update({ expires_at: knex.fn.now() });
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
  });

  test('ends seven days after the sign-in, however much it is used', async () => {
    const client = await signIn(portal, person);
    const [{ days }] = await sessionsOf(person).select(
      knex.raw('extract(epoch from s.ends_at - s.created_at)::float8 / 86400 as days'),
    );
    expect(days).toBeCloseTo(7, 3);
    await knex('user_sessions').update({ ends_at: knex.fn.now() });
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
    await removeOldSignIns(db);
    expect(await sessionsOf(person)).toEqual([]);
  });

  test('ends with the next request after its user is removed, and so do invitations', async () => {
    const client = await signIn(portal, person);
    const token = await createInvitation(db, { ...person, role: 'account_holder' }, 'test', 3_600_000);
    expect(await removeUser(db, person.email, 'test')).toMatchObject({ email: person.email });
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
    expect((await client.get(`/accounts/${person.accountId}`)).body.code).toBe('not_signed_in');
    expect((await client.post('/invitations/lookup', { token })).body.code).toBe('invitation_not_found');
  });

  test('can end other sessions of the same user, and no others', async () => {
    const other = await newPerson();
    const [here, there, theirs] = [
      await signIn(portal, person),
      await signIn(portal, person),
      await signIn(portal, other),
    ];
    const { body } = await here.get('/sessions');
    expect(body.sessions).toHaveLength(2);
    const { session_id } = body.sessions.find((one: { current: boolean }) => !one.current);
    expect((await theirs.delete(`/sessions/${session_id}`)).status).toBe(204);
    expect((await there.get('/session')).status).toBe(200);
    expect((await here.delete(`/sessions/${session_id}`)).status).toBe(204);
    expect((await there.get('/session')).body.code).toBe('not_signed_in');
    expect((await here.get('/session')).status).toBe(200);
    for (const id of ['a%00b', '%D8%A7', 'x'.repeat(101)])
      expect((await here.delete(`/sessions/${id}`)).status).toBe(204);
  });

  test('ends with a new password, except the current one, which gets a new cookie', async () => {
    const [here, there] = [await signIn(portal, person), await signIn(portal, person)];
    const [before] = await sessionsOf(person).select('s.token');
    const change = (current: string, next: string) =>
      here.post('/password', { current_password: current, new_password: next });
    expect((await change('not this one', 'a new one that is long')).body.code).toBe('wrong_credentials');
    expect((await change(person.password, 'too short')).body.errors[0].pointer).toBe('/new_password');
    expect((await change(person.password, 'a new one that is long')).status).toBe(204);
    expect((await here.get('/session')).status).toBe(200);
    expect((await there.get('/session')).body.code).toBe('not_signed_in');
    const after = await sessionsOf(person).select('s.token');
    expect(after).toHaveLength(1);
    expect(after).not.toContainEqual(before);
    expect(await attempt(person.email, person.password, newNetwork())).toBe(401);
    expect(await attempt(person.email, 'a new one that is long', newNetwork())).toBe(204);
    const subject = `user:${person.email}`;
    expect(await knex('audit_events').where({ subject, action: 'password_changed' })).toHaveLength(1);
  });
});

describe('an invitation', () => {
  const invite = (email: string, accountId: number | null, lastsMs = 3_600_000) =>
    createInvitation(
      db,
      { email, accountId, role: accountId === null ? 'operator' : 'account_holder' },
      'test',
      lastsMs,
    );
  const accept = (token: string, password = 'long enough to be good') =>
    ask('/invitations/accept', { token, name: 'Newcomer', password }, { 'X-Forwarded-For': newNetwork() });

  test('creates its user once if it is used several times at once', async () => {
    const { id } = await stack.account();
    const token = await invite('once@example.test', id);
    const replies = await Promise.all([accept(token), accept(token), accept(token)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    const users = await knex('users').where({ email: 'once@example.test' });
    expect(users).toMatchObject([{ role: 'account_holder', name: 'Newcomer' }]);
    const memberships = await knex('memberships').where({ account_id: id });
    expect(memberships).toMatchObject([{ user_id: users[0].id, role: 'owner' }]);
    expect(
      await knex('audit_events')
        .where({ subject: 'user:once@example.test' })
        .orderBy('event_id')
        .select('action', 'actor'),
    ).toEqual([
      { action: 'invitation_accepted', actor: 'once@example.test' },
      { action: 'signed_in', actor: 'once@example.test' },
    ]);
  });

  test('gives an existing user a new password, ends their sessions and voids their other links', async () => {
    const client = await signIn(portal, person);
    const first = await invite(person.email, person.accountId);
    const second = await invite(person.email, person.accountId);
    expect((await client.post('/invitations/lookup', { token: first })).status).toBe(404);
    expect((await client.post('/invitations/lookup', { token: second })).body).toMatchObject({ name: 'Test Person' });
    expect((await accept(second)).status).toBe(204);
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
    expect(await attempt(person.email, person.password, newNetwork())).toBe(401);
    expect(await attempt(person.email, 'long enough to be good', newNetwork())).toBe(204);
  });

  test.each([
    ['that is over', async () => invite('late@example.test', null, -1)],
    ['that nobody sent', async () => 'x'.repeat(43)],
  ])('%s is rejected', async (_, make) => {
    const reply = await accept(await make());
    expect([reply.status, (await bodyOf(reply)).code]).toEqual([404, 'invitation_not_found']);
  });

  test.each(['a\u0000b', 'a\nb', ' ', 'x'.repeat(201)])('with the invalid name %j stays usable', async (name) => {
    const token = await invite('named@example.test', null);
    const password = 'long enough to be good';
    const reply = await ask('/invitations/accept', { token, name, password }, { 'X-Forwarded-For': newNetwork() });
    expect([reply.status, (await bodyOf(reply)).errors[0].pointer]).toEqual([422, '/name']);
    expect((await ask('/invitations/lookup', { token }, { 'X-Forwarded-For': newNetwork() })).status).toBe(200);
  });

  test('with a password that is too short stays usable', async () => {
    const token = await invite('short@example.test', null);
    const reply = await accept(token, 'only 14 chars.');
    expect([reply.status, (await bodyOf(reply)).errors[0].pointer]).toEqual([422, '/password']);
    expect((await accept(token)).status).toBe(204);
  });
});

test('the log contains no credentials', () => {
  const log = JSON.stringify(portal.log.lines);
  expect(log).toContain('wrong_credentials');
  for (const secret of ['@example.test', 'guess', 'long enough', '203.0.113', '2001:db8'])
    expect(log).not.toContain(secret);
});

test('a session survives an outage of Postgres, which is reported as such', async () => {
  const postgres = await startFaultyPostgres();
  const own = await startStack('postgres', { database: postgres });
  const there = await own.portal();
  const person = await createPerson(own);
  const client = await signIn(there, person);
  await postgres.kill();
  expect((await client.get('/session')).body.code).toBe('storage_unavailable');
  const again = openPortalClient(there);
  const { status, body } = await again.post('/session', { email: person.email, password: person.password });
  expect([status, body.code]).toEqual([503, 'storage_unavailable']);
  await postgres.start();
  expect((await client.get('/session')).status).toBe(200);
});
