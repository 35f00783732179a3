import { beforeEach, describe, expect, test } from '@jest/globals';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { removeOldSignIns } from '@orders/database/users/sign-in-attempts.ts';
import { findUser, removeUser } from '@orders/database/users/users.ts';
import { createPasswordReset } from '@orders/portal/sign-in/password-reset-routes.ts';
import { until } from '@orders/test-services/until.ts';
import { codeOf, type Reply } from '../harness/api.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { linkIn } from '../harness/mail-server.ts';
import { createPerson, openPortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { addTotp, startSignIn } from '../harness/second-factors.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, portal, mailServer, person } = useStack({
  portal: true,
  mailServer: true,
  person: 'each test',
});

beforeEach(async () => {
  await knex('sign_in_attempts').delete();
});

const NEW_PASSWORD = 'a new one that is long';

const newPerson = () => createPerson(stack);
const client = () => openPortalClient(portal);
const audit = (filter: object) =>
  knex('audit_events').where(filter).orderBy('event_id').select('account_id', 'actor', 'action', 'details');

/** Asks like the proxy, with the address of a client. */
async function ask(email: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${portal.url}/api/password-resets`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: portal.url, ...headers },
    body: JSON.stringify({ email }),
  });
}

/** Asks for a link, and returns its token from the mail. */
async function tokenFor({ email }: TestPerson, headers: Record<string, string> = {}): Promise<string> {
  const before = resetMailsTo(email).length;
  expect((await ask(email, headers)).status).toBe(202);
  const mail = await until('the link', async () => resetMailsTo(email)[before]);
  return new URL(linkIn(mail)).hash.slice(1);
}
const resetMailsTo = (email: string) =>
  mailServer.mailsTo(email).filter(({ parsed }) => parsed.subject?.startsWith('Set a new password'));

const use = (token: string, password = NEW_PASSWORD): Promise<Reply> =>
  client().post('/password-resets/use', { token, password });
const look = (token: string) => client().post('/password-resets/lookup', { token });

/** Waits until the work of earlier requests is done. */
async function untilAskedFor(person: TestPerson): Promise<void> {
  await tokenFor(person, { 'X-Forwarded-For': '198.51.100.200' });
}

describe('a link for a new password', () => {
  test('is mailed to the user, sets the password once, and does not sign in', async () => {
    const token = await tokenFor(person);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(await look(token)).toMatchObject({ status: 200, body: { email: person.email } });
    const reply = await use(token);
    expect(reply.status).toBe(204);
    expect(String(reply.headers['set-cookie'])).not.toContain('session_token');
    expect(await use(token, 'yet another one that is long')).toMatchObject({
      status: 404,
      body: { code: 'reset_not_found' },
    });
    expect((await client().post('/session', { email: person.email, password: person.password })).status).toBe(401);
    await signIn(portal, { ...person, password: NEW_PASSWORD });
  });

  test('ends all sessions of the user, and nobody else’s', async () => {
    const other = await newPerson();
    const [session, theirs] = [await signIn(portal, person), await signIn(portal, other)];
    expect((await use(await tokenFor(person))).status).toBe(204);
    expect((await session.get('/session')).body.code).toBe('not_signed_in');
    expect((await theirs.get('/session')).status).toBe(200);
  });

  test('ends the lock after ten wrong codes, but not the one after fifty in a day', async () => {
    const { app } = await addTotp(stack, await signIn(portal, person));
    const code = '000000' === (await app.code()) ? '000001' : '000000';
    const tryIn = async (given: string, password: string) => {
      const { client: signingIn } = await startSignIn(portal, { ...person, password });
      return (await signingIn.post('/session/second-factor', { code: given })).status;
    };
    for (let failure = 1; failure <= 10; failure += 1) expect(await tryIn(code, person.password)).toBe(401);
    expect(await tryIn(await app.code(), person.password)).toBe(429);
    expect((await use(await tokenFor(person))).status).toBe(204);
    expect(await tryIn(code, NEW_PASSWORD)).toBe(401);
    const ofDay = knex('sign_in_attempts').whereLike('key', 'codes of a day of %');
    // The attempt that met the lock was not counted for the day.
    expect(await ofDay.clone().pluck('attempts')).toEqual([11]);
    await ofDay.clone().update({ attempts: 50 });
    expect((await use(await tokenFor(person), 'yet another one that is long')).status).toBe(204);
    expect(await tryIn(await app.code(), 'yet another one that is long')).toBe(429);
  });

  test('is stored as its SHA-256 only, and is in no log line', async () => {
    const token = await tokenFor(person);
    const rows = await knex('password_resets');
    expect(
      JSON.stringify(rows.map((row) => ({ ...row, token_hash: row.token_hash.toString('base64url') }))),
    ).not.toContain(token);
    expect(portal.log.text()).not.toContain(token);
    expect(portal.log.text()).not.toContain(person.email);
  });

  test('leads to PORTAL_URL, whatever the headers of the request say', async () => {
    // fetch sets Host itself.
    const token = await tokenFor(person, { 'X-Forwarded-Host': 'evil.test', Forwarded: 'host=evil.test' });
    const raw = await import('node:http').then(
      ({ request }) =>
        new Promise<number>((resolve, reject) => {
          const sent = request(`${portal.url}/api/password-resets`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', Origin: portal.url, Host: 'evil.test' },
          });
          sent.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
          sent.end(JSON.stringify({ email: person.email }));
        }),
    );
    expect(raw).toBe(202);
    const mail = await until('the second', async () => resetMailsTo(person.email)[1]);
    for (const { raw: text } of resetMailsTo(person.email)) expect(text).not.toContain('evil.test');
    expect(linkIn(mail)).toMatch(new RegExp(`^${portal.url}/new-password#[\\w-]{43}$`));
    expect(linkIn(mail)).not.toContain(token);
  });

  test('ends with the next one for the same user', async () => {
    const [first, second] = [await tokenFor(person), await tokenFor(person)];
    expect((await look(first)).body.code).toBe('reset_not_found');
    expect((await use(first)).body.code).toBe('reset_not_found');
    expect((await use(second)).status).toBe(204);
  });

  test('ends after 60 minutes, and is removed then', async () => {
    const token = await tokenFor(person);
    const ofPerson = () =>
      knex('password_resets as r').join('users as u', 'u.id', 'r.user_id').where('u.email', person.email);
    const [{ minutes }] = await ofPerson().select(
      knex.raw('extract(epoch from r.expires_at - now())::float8 / 60 as minutes'),
    );
    // To five minutes, however long ago it was made.
    expect(minutes).toBeCloseTo(60, -1);
    await knex('password_resets').update({ expires_at: knex.fn.now() });
    expect((await look(token)).body.code).toBe('reset_not_found');
    expect((await use(token)).body.code).toBe('reset_not_found');
    await removeOldSignIns(db);
    expect(await ofPerson()).toEqual([]);
  });

  test.each([
    [
      'a password that the user changes',
      async (person: TestPerson) => {
        const session = await signIn(portal, person);
        const body = { current_password: person.password, new_password: NEW_PASSWORD };
        expect((await session.post('/password', body)).status).toBe(204);
      },
    ],
    [
      'a link of an operator that is used',
      async (person: TestPerson) => {
        const invitation = { ...person, role: 'account_holder' as const };
        const token = await createInvitation(db, invitation, 'test', 3_600_000);
        const body = { token, name: 'New Name', password: NEW_PASSWORD };
        expect((await client().post('/invitations/accept', body)).status).toBe(204);
      },
    ],
    [
      'the removal of the user',
      async ({ email }: TestPerson) => {
        expect(await removeUser(db, email, 'test')).toMatchObject({ email });
      },
    ],
  ])('ends with %s', async (_, change) => {
    const token = await tokenFor(person);
    await change(person);
    expect((await look(token)).body.code).toBe('reset_not_found');
    expect((await use(token)).body.code).toBe('reset_not_found');
  });

  test('is used once, also by two requests at the same time', async () => {
    const token = await tokenFor(person);
    const locked = await hold(knex, `select from users where email = '${person.email}' for update`);
    const replies = [use(token), use(token, 'another new one, and long')];
    // Both have found the link.
    await whoWait(knex, 1, 'transactionid');
    await whoWait(knex, 1, 'tuple');
    await locked.release();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([204, 404]);
  });

  test('sets no short or easily guessed password, and stays valid', async () => {
    const token = await tokenFor(person);
    for (const [password, code] of [
      ['too short', 'string_min'],
      ['passwordpassword', 'password_pattern'],
      [`${person.email} 1`, 'password_context'],
    ]) {
      const refused = await use(token, password);
      expect([refused.status, refused.body.errors]).toEqual([
        422,
        [{ pointer: '/password', code, detail: expect.any(String) }],
      ]);
    }
    expect((await use(token)).status).toBe(204);
  });

  test.each(['', 'x'.repeat(43), 'x'.repeat(101)])('a token that nobody was given is refused: %j', async (token) => {
    for (const reply of [await look(token), await use(token)])
      expect(['reset_not_found', 'invalid_request']).toContain(reply.body.code);
  });

  test('is taken from pages of the portal only', async () => {
    const token = await createPasswordReset(
      db,
      (await knex('users').where({ email: person.email }).first('id')).id,
      3_600_000,
    );
    for (const path of ['', '/look', '/use']) {
      const reply = await fetch(`${portal.url}/api/password-resets${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: 'https://evil.test' },
        body: JSON.stringify({ token, password: NEW_PASSWORD, email: person.email }),
      });
      expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([403, 'cross_site_request']);
    }
    expect((await look(token)).status).toBe(200);
  });
});

describe('asking for a link', () => {
  test('gets the same reply for an address of nobody, to which no mail is sent', async () => {
    const replies = [await ask('nobody@example.test'), await ask(person.email)];
    const seen = await Promise.all(
      replies.map(async (reply) => ({
        status: reply.status,
        headers: new Set(reply.headers.keys()),
        body: await reply.text(),
      })),
    );
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject({ status: 202, body: '' });
    await mailServer.mailTo(person.email);
    expect(mailServer.mailsTo('nobody@example.test')).toEqual([]);
  });

  test('does nothing that depends on the address before the reply', async () => {
    // The rows that tell about the address cannot be read or written until the lock is gone.
    await knex.transaction(async (trx) => {
      await trx.raw('lock table users, password_resets, audit_events in access exclusive mode');
      for (const email of [person.email, 'nobody@example.test']) expect((await ask(email)).status).toBe(202);
    });
    await mailServer.mailTo(person.email);
  });

  test.each([
    ['a line break', 'a@example.test\r\nBcc: b@example.test'],
    ['a line break at its end', 'a@example.test\r\n'],
    ['a bare line feed', 'a@example.test\nb@example.test'],
    ['two addresses', 'a@example.test,b@example.test'],
    ['two addresses with a semicolon', 'a@example.test; b@example.test'],
    ['an address with a name', 'A <a@example.test>'],
    ['no address', 'a'],
    ['an array', ['a@example.test', 'b@example.test']],
    ['an object', { $ne: null }],
    ['a very long one', `${'a'.repeat(300)}@example.test`],
    ['nothing', undefined],
  ])('%s is refused', async (_, email) => {
    const reply = await ask(email);
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([422, 'invalid_request']);
  });

  test('finds the user whatever the case of the address', async () => {
    expect((await ask(` ${person.email.toUpperCase()} `)).status).toBe(202);
    expect((await mailServer.mailTo(person.email)).to).toEqual([person.email]);
  });

  test('sends three mails an hour to one address from one network, and still one from another network', async () => {
    const other = await newPerson();
    for (let time = 0; time < 5; time += 1)
      expect((await ask(person.email, { 'X-Forwarded-For': '203.0.113.9' })).status).toBe(202);
    await untilAskedFor(other);
    await until('three mails', async () => resetMailsTo(person.email).length >= 3);
    await tokenFor(person, { 'X-Forwarded-For': '203.0.113.10' });
    expect(resetMailsTo(person.email)).toHaveLength(4);
    await knex('sign_in_attempts').update({ window_to: new Date(0) });
    await tokenFor(person, { 'X-Forwarded-For': '203.0.113.9' });
  });

  test('sends six mails an hour to one address from all networks, and the newest link stays valid', async () => {
    const other = await newPerson();
    for (let network = 1; network <= 6; network += 1)
      await tokenFor(person, { 'X-Forwarded-For': `203.0.113.${20 + network}` });
    const newest = new URL(linkIn(await mailServer.mailTo(person.email, 6))).hash.slice(1);
    for (let network = 1; network <= 4; network += 1)
      expect((await ask(person.email, { 'X-Forwarded-For': `203.0.113.${30 + network}` })).status).toBe(202);
    await untilAskedFor(other);
    expect(resetMailsTo(person.email)).toHaveLength(6);
    expect((await look(newest)).status).toBe(200);
    // It works until the address gets the next mail.
    const [link] = await knex('password_resets').orderBy('expires_at', 'desc').limit(1);
    const mails = await knex('sign_in_attempts').where('attempts', '>', 6).pluck('window_to');
    expect(mails.length).toBeGreaterThan(0);
    for (const windowTo of mails) expect(windowTo <= link.expires_at).toBe(true);
  });

  test('is refused after 20 requests from one network, for every address', async () => {
    const from = { 'X-Forwarded-For': '203.0.113.50' };
    for (let time = 0; time < 20; time += 1) expect((await ask(`nobody-${time}@example.test`, from)).status).toBe(202);
    for (const email of [(await newPerson()).email, 'nobody@example.test']) {
      const reply = await ask(email, from);
      expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([429, 'too_many_attempts']);
      expect(Number(reply.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    expect((await ask('nobody@example.test', { 'X-Forwarded-For': '203.0.113.51' })).status).toBe(202);
  });

  test.each([
    ['networks of /64 in one /56', 40, (at: number) => `2001:db8:0:12${at.toString(16).padStart(2, '0')}::1`],
    ['networks of /56 in one /48', 80, (at: number) => `2001:db8:0:${at.toString(16).padStart(2, '0')}00::1`],
    ['addresses in one /24', 80, (at: number) => `198.51.100.${at + 1}`],
  ])('is refused after requests from many %s: %i', async (_, max, networkOf) => {
    const statusFrom = async (network: string) =>
      (await ask('nobody@example.test', { 'X-Forwarded-For': network })).status;
    expect(await statusFrom(networkOf(0))).toBe(202);
    await knex('sign_in_attempts').update({ attempts: max - 1 });
    expect([await statusFrom(networkOf(1)), await statusFrom(networkOf(2))]).toEqual([202, 429]);
    expect(await statusFrom('192.0.2.1')).toBe(202);
  });

  test('is refused where the portal sends no mail, which the page can find out before', async () => {
    const silent = await stack.portal();
    const reply = await openPortalClient(silent).post('/password-resets', { email: (await newPerson()).email });
    expect(codeOf(reply)).toEqual([409, 'mail_not_configured']);
    expect((await openPortalClient(silent).get('/password-resets')).body).toEqual({ is_available: false });
    expect((await client().get('/password-resets')).body).toEqual({ is_available: true });
    await silent.close();
  });
});

describe('the audit trail', () => {
  const NETWORK = expect.stringMatching(/^network:[\da-f]{16}$/);

  test('records that a link was asked for and used, with the network as a hash', async () => {
    await use(await tokenFor(person));
    expect(await audit({ subject: `user:${person.email}` })).toEqual([
      { account_id: person.accountId, actor: NETWORK, action: 'password_reset_requested', details: null },
      {
        account_id: person.accountId,
        actor: person.email,
        action: 'password_reset',
        details: { network: expect.stringMatching(/^[\da-f]{16}$/) },
      },
    ]);
  });

  test('records an address of nobody as a hash, and at most ten requests from one network', async () => {
    const other = await newPerson();
    await knex('audit_events').delete();
    for (let time = 0; time < 13; time += 1) await ask(`nobody-${time}@example.test`);
    await untilAskedFor(other);
    const ofNobody = async () =>
      knex('audit_events').whereLike('subject', 'email:%').select('action', 'subject', 'actor');
    await until('ten entries', async () => (await ofNobody()).length >= 10);
    expect(await ofNobody()).toEqual(
      Array(10).fill({
        action: 'password_reset_requested',
        subject: expect.stringMatching(/^email:[\da-f]{16}$/),
        actor: NETWORK,
      }),
    );
  });
});

describe('a mail about the change', () => {
  const subjectsTo = (email: string) => mailServer.mailsTo(email).map(({ parsed }) => parsed.subject?.split(' · ')[0]);

  test('follows a reset', async () => {
    await use(await tokenFor(person));
    await mailServer.mailTo(person.email, 2);
    expect(subjectsTo(person.email)).toEqual(['Set a new password', 'Your password was changed']);
  });

  test('follows a change by the user, and a link of an operator for an existing user, but not the first password', async () => {
    const session = await signIn(portal, person);
    await mailServer.mailTo(person.email);
    const body = { current_password: person.password, new_password: NEW_PASSWORD };
    expect((await session.post('/password', body)).status).toBe(204);
    await mailServer.mailTo(person.email, 2);
    const accept = async (email: string) => {
      const invitation = { email, role: 'account_holder' as const, accountId: person.accountId };
      const token = await createInvitation(db, invitation, 'test', 3_600_000);
      const reply = await client().post('/invitations/accept', { token, name: 'A', password: NEW_PASSWORD });
      expect(reply.status).toBe(204);
    };
    await accept('new-user@example.test');
    await accept(person.email);
    await mailServer.mailTo(person.email, 3);
    expect(subjectsTo(person.email)).toEqual(['New sign-in', 'Your password was changed', 'Your password was changed']);
    expect(subjectsTo('new-user@example.test')).toEqual([]);
  });

  test('follows second factors that are added, removed, or reset by an operator', async () => {
    const session = await signIn(portal, person);
    await addTotp(stack, session);
    await session.delete('/second-factors/totp');
    await addTotp(stack, session);
    const operator = await signIn(portal, await createPerson(stack, null));
    const user = await findUser(db, person.email);
    expect((await operator.delete(`/operator/users/${user?.user_id}/second-factors`)).status).toBe(204);
    await mailServer.mailTo(person.email, 5);
    const of = (what: string) =>
      subjectsTo(person.email).filter((subject) => subject === `A second factor was ${what}`);
    expect([of('added').length, of('removed').length]).toEqual([2, 2]);
  });
});
