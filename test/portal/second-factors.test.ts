import { describe, expect, test } from '@jest/globals';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { hashRecoveryCode } from '@orders/database/users/second-factors.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { codeOf } from '../harness/api.ts';
import { createPerson, openPortalClient, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import {
  addTotp,
  ageSessions,
  appOf,
  forgetTimeSteps,
  signInWithCode,
  startSignIn,
} from '../harness/second-factors.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal } = useStack({ portal: true });

const newPerson = () => createPerson(stack);

/** A person with an authenticator app, signed in. */
async function enroll(person?: TestPerson) {
  const owner = person ?? (await newPerson());
  const client = await signIn(portal, owner);
  return { person: owner, client, ...(await addTotp(stack, client)) };
}

const secondStep = async (client: PortalClient, body: object) => {
  const reply = await client.post('/session/second-factor', body);
  return reply.status === 204 ? 204 : [reply.status, reply.body.code];
};
const EXPIRED = [401, 'sign_in_expired'];
const WRONG = [401, 'wrong_code'];

const entriesOf = ({ email }: TestPerson, action: string) =>
  knex('audit_events')
    .where({ subject: `user:${email}`, action })
    .orderBy('event_id');
const factorOf = async (client: PortalClient) => (await client.get('/session')).body.second_factor;

describe('with an authenticator app', () => {
  test('a password alone opens no session, and a code does', async () => {
    const { person, app } = await enroll();
    const { client, steps } = await startSignIn(portal, person);
    expect(steps).toEqual(['code', 'recovery_code']);
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
    expect(await secondStep(client, { code: '000000' === (await app.code()) ? '000001' : '000000' })).toEqual(WRONG);
    expect(await secondStep(client, { code: await app.code() })).toBe(204);
    expect(await factorOf(client)).toEqual({ required: false, confirmed: true, steps: ['code', 'recovery_code'] });
    const [, signedIn] = await entriesOf(person, 'signed_in');
    expect(signedIn.details).toMatchObject({ second_factor: 'code' });
  });

  test('a code is accepted once, and none of before it', async () => {
    const { person, app } = await enroll();
    const clients = await Promise.all([1, 2, 3].map(async () => (await startSignIn(portal, person)).client));
    const [before, code] = [await app.code(-1), await app.code()];
    const outcomes = await Promise.all(clients.map((client) => secondStep(client, { code })));
    expect(outcomes.filter((outcome) => outcome === 204)).toHaveLength(1);
    const { client } = await startSignIn(portal, person);
    expect(await secondStep(client, { code })).toEqual(WRONG);
    expect(await secondStep(client, { code: before })).toEqual(WRONG);
    const [signedIn] = clients.filter((_, index) => outcomes[index] === 204) as [PortalClient];
    expect((await signedIn.post('/session/confirm', { password: person.password, code })).body.code).toBe('wrong_code');
  });

  test('the second step works in the browser that took the first one, and once', async () => {
    const { person, app } = await enroll();
    expect(await secondStep(openPortalClient(portal), { code: await app.code() })).toEqual(EXPIRED);
    const { client } = await startSignIn(portal, person);
    const late = await startSignIn(portal, person);
    expect(await secondStep(client, { code: await app.code() })).toBe(204);
    expect((await client.delete('/session')).status).toBe(204);
    await forgetTimeSteps(stack);
    expect(await secondStep(client, { code: await app.code() })).toEqual(EXPIRED);
    await knex('user_verifications').update({ expires_at: new Date(0) });
    expect(await secondStep(late.client, { code: await app.code() })).toEqual(EXPIRED);
  });

  test("somebody else's session in the same browser does not count", async () => {
    const [own, other] = [await enroll(), await enroll()];
    await own.client.post('/session', { email: other.person.email, password: other.person.password });
    expect(await secondStep(own.client, { code: await own.app.code() })).toEqual(WRONG);
    expect(await secondStep(own.client, { code: await other.app.code() })).toBe(204);
    expect((await own.client.get('/session')).body.email).toBe(other.person.email);
  });

  test("a code is checked for the challenge's user, also if the browser has sent a session with it", async () => {
    const [own, other] = [await enroll(), await enroll()];
    const send = async (path: string, body: object, cookies: string[] = []) => {
      const headers = { 'Content-Type': 'application/json', Origin: portal.url, Cookie: cookies.join('; ') };
      const reply = await fetch(`${portal.url}/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      const set = reply.headers.getSetCookie().map((cookie) => cookie.split(';')[0] as string);
      return { status: reply.status, set };
    };
    const start = async ({ person: { email, password } }: typeof own) => {
      const { set } = await send('/session', { email, password });
      return set.filter((cookie) => cookie.includes('two_factor'));
    };
    const { set } = await send('/session/second-factor', { code: await own.app.code() }, await start(own));
    const session = set.filter((cookie) => cookie.includes('session_token'));
    expect(session).toHaveLength(1);
    const both = [...session, ...(await start(other))];
    expect((await send('/session/second-factor', { recovery_code: own.recoveryCodes[0] }, both)).status).toBe(401);
    const right = await send('/session/second-factor', { code: await other.app.code() }, both);
    expect([right.status, right.set.some((cookie) => cookie.includes('session_token'))]).toEqual([204, true]);
  });

  test.each([
    ['nothing', {}, 422],
    ['both kinds of codes', { code: '123456', recovery_code: 'x' }, 422],
    ['another length', { code: '12345' }, 422],
    ['a trusted browser', { code: '123456', trustDevice: true }, 422],
  ])('%s is rejected', async (_, body, status) => {
    const { client } = await startSignIn(portal, (await enroll()).person);
    expect((await client.post('/session/second-factor', body)).status).toBe(status);
  });

  test('another app replaces it with its first code, and not before', async () => {
    const { person, client, app } = await enroll();
    const next = appOf((await client.post('/second-factors/totp')).body.uri);
    expect((await client.post('/second-factors/totp/verify', { code: await app.code() })).body.code).toBe('wrong_code');
    await signInWithCode(portal, person, app);
    const { body } = await client.post('/second-factors/totp/verify', { code: await next.code() });
    // The recovery codes stay.
    expect(body).toEqual({ recovery_codes: null });
    await forgetTimeSteps(stack);
    const { client: later } = await startSignIn(portal, person);
    expect(await secondStep(later, { code: await app.code() })).toEqual(WRONG);
    await signInWithCode(portal, person, next);
    expect((await client.post('/second-factors/totp/verify', { code: await next.code() })).body.code).toBe(
      'second_factor_not_found',
    );
  });

  test('its secret and the recovery codes are stored, encrypted or hashed', async () => {
    const person = await newPerson();
    const client = await signIn(portal, person);
    const { uri } = (await client.post('/second-factors/totp')).body;
    const code = await appOf(uri).code();
    const { recovery_codes } = (await client.post('/second-factors/totp/verify', { code })).body;
    const stored = JSON.stringify(await knex('user_second_factors'));
    const secret = new URL(uri).searchParams.get('secret') as string;
    expect(stored).toContain(hashRecoveryCode(recovery_codes[0]));
    for (const text of [secret, recovery_codes[0], recovery_codes[0].replaceAll('-', '')])
      expect(stored).not.toContain(text);
    expect(JSON.stringify(portal.log.lines)).not.toContain(secret);
  });
});

describe('recovery codes', () => {
  test('work once each, however they are typed', async () => {
    const { person, recoveryCodes } = await enroll();
    expect(recoveryCodes).toHaveLength(10);
    const [first, second] = recoveryCodes as [string, string];
    const { client } = await startSignIn(portal, person);
    expect(await secondStep(client, { recovery_code: 'aaaa-bbbb-cccc-dddd' })).toEqual(WRONG);
    expect(await secondStep(client, { recovery_code: first })).toBe(204);
    expect((await client.get('/second-factors')).body).toMatchObject({ totp: true, recovery_codes: 9 });
    const { client: again } = await startSignIn(portal, person);
    expect(await secondStep(again, { recovery_code: first })).toEqual(WRONG);
    expect(await secondStep(again, { recovery_code: ` ${second.replaceAll('-', '').toUpperCase()} ` })).toBe(204);
    expect(await entriesOf(person, 'recovery_code_used')).toHaveLength(2);
  });

  test('are used once by sign-ins at the same time', async () => {
    const { person, recoveryCodes } = await enroll();
    const clients = await Promise.all([1, 2, 3].map(async () => (await startSignIn(portal, person)).client));
    const outcomes = await Promise.all(
      clients.map((client) => secondStep(client, { recovery_code: recoveryCodes[0] })),
    );
    expect(outcomes.filter((outcome) => outcome === 204)).toHaveLength(1);
  });

  test('are replaced all at once', async () => {
    const { person, client, recoveryCodes } = await enroll();
    const { body } = await client.post('/second-factors/recovery-codes');
    expect(body.recovery_codes).toHaveLength(10);
    expect(await entriesOf(person, 'recovery_codes_renewed')).toHaveLength(1);
    const { client: later } = await startSignIn(portal, person);
    expect(await secondStep(later, { recovery_code: recoveryCodes[0] })).toEqual(WRONG);
    expect(await secondStep(later, { recovery_code: body.recovery_codes[0] })).toBe(204);
  });

  test('belong to a second factor', async () => {
    const client = await signIn(portal, await newPerson());
    expect((await client.post('/second-factors/recovery-codes')).body.code).toBe('second_factor_not_found');
  });
});

describe('guessing codes', () => {
  test('is blocked after ten failures of a user, also with the password, and recorded', async () => {
    const { person, app } = await enroll();
    // Entries of one network are limited too.
    await knex('sign_in_attempts').delete();
    const guess = '000000' === (await app.code()) ? '000001' : '000000';
    for (let round = 0; round < 10; round += 1) {
      const { client } = await startSignIn(portal, person);
      expect(await secondStep(client, { code: guess })).toEqual(WRONG);
    }
    const { client } = await startSignIn(portal, person);
    const reply = await client.post('/session/second-factor', { code: await app.code() });
    expect(codeOf(reply)).toEqual([429, 'too_many_attempts']);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(await entriesOf(person, 'second_factor_failed')).toHaveLength(10);
    expect(await entriesOf(person, 'second_factor_locked')).toHaveLength(1);
    await knex('sign_in_attempts').update({ window_to: new Date(0) });
    await forgetTimeSteps(stack);
    await signInWithCode(portal, person, app);
  });

  test.each(['code', 'recovery_code'])('with the kind "%s" leaves the user the other kind', async (kind) => {
    const { person, app, recoveryCodes } = await enroll();
    const code = '000000' === (await app.code()) ? '000001' : '000000';
    const wrong = kind === 'code' ? { code } : { recovery_code: 'guess' };
    for (let round = 0; round < 10; round += 1) {
      const { client } = await startSignIn(portal, person);
      expect(await secondStep(client, wrong)).toEqual(WRONG);
    }
    const { client } = await startSignIn(portal, person);
    expect(await secondStep(client, wrong)).toEqual([429, 'too_many_attempts']);
    const right = kind === 'code' ? { recovery_code: recoveryCodes[0] as string } : { code: await app.code() };
    expect(await secondStep(client, right)).toBe(204);
  });

  test('in parallel is blocked after as many attempts, also when a session is confirmed', async () => {
    const { person, client, app } = await enroll();
    const code = '000000' === (await app.code()) ? '000001' : '000000';
    const confirm = () => client.post('/session/confirm', { password: person.password, code });
    const replies = await Promise.all(Array.from({ length: 15 }, confirm));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(5);
  });

  test('is blocked after fifty failures in a day', async () => {
    const { person } = await enroll();
    const { client } = await startSignIn(portal, person);
    expect(await secondStep(client, { recovery_code: 'guess' })).toEqual(WRONG);
    await knex('sign_in_attempts')
      .where('window_to', '>', knex.raw("now() + interval '1 hour'"))
      .update({ attempts: 50 });
    expect(await secondStep(client, { recovery_code: 'guess' })).toEqual([429, 'too_many_attempts']);
  });
});

describe('adding and removing', () => {
  test('the first second factor ends the earlier sessions, except the one that added it', async () => {
    const person = await newPerson();
    const [here, there] = [await signIn(portal, person), await signIn(portal, person)];
    await addTotp(stack, here);
    expect((await there.get('/session')).body.code).toBe('not_signed_in');
    expect(await factorOf(here)).toMatchObject({ confirmed: true });
    expect((await entriesOf(person, 'second_factor_added')).map(({ details }) => details)).toEqual([
      { factor: 'totp' },
    ]);
  });

  test('the last one leaves a password alone, and no recovery codes', async () => {
    const { person, client } = await enroll();
    expect((await client.delete('/second-factors/totp')).status).toBe(204);
    expect((await client.delete('/second-factors/totp')).body.code).toBe('second_factor_not_found');
    expect((await client.get('/second-factors')).body).toEqual({
      totp: false,
      passkeys: [],
      recovery_codes: 0,
      required: false,
    });
    await signIn(portal, person);
    expect((await entriesOf(person, 'second_factor_removed')).map(({ details }) => details)).toEqual([
      { factor: 'totp' },
    ]);
  });

  test('the last one stays while an account requires one', async () => {
    const { person, client } = await enroll();
    const required = (is: boolean) => client.put(`/accounts/${person.accountId}/second-factor`, { required: is });
    await required(true);
    const reply = await client.delete('/second-factors/totp');
    expect(codeOf(reply)).toEqual([409, 'last_second_factor']);
    expect((await client.get('/second-factors')).body).toMatchObject({ totp: true, required: true });
    await required(false);
    expect((await client.delete('/second-factors/totp')).status).toBe(204);
  });

  test('takes a second factor of somebody who has one: a password alone changes nothing', async () => {
    const { person, client } = await enroll();
    await knex('user_sessions').update({ second_factor: false });
    for (const path of ['/passkeys/options', '/totp', '/recovery-codes'])
      expect((await client.post(`/second-factors${path}`)).body.code).toBe('second_factor_required');
    const refused = [
      await client.post('/second-factors/passkeys', { name: 'x', passkey: { id: 'x', response: {} } }),
      await client.post('/second-factors/totp/verify', { code: '123456' }),
      await client.delete('/second-factors/totp'),
      await client.delete('/second-factors/passkeys/x'),
    ];
    expect(refused.map(({ body }) => body.code)).toEqual(Array(4).fill('second_factor_required'));
    const { client: later } = await startSignIn(portal, person);
    expect((await later.get('/second-factors')).body.code).toBe('not_signed_in');
  });

  test('takes a recent proof of identity', async () => {
    const { client } = await enroll();
    await ageSessions(stack);
    for (const path of ['/passkeys/options', '/totp', '/recovery-codes'])
      expect((await client.post(`/second-factors${path}`)).body.code).toBe('authentication_required');
    expect((await client.delete('/second-factors/totp')).body.code).toBe('authentication_required');
  });

  test('a new password keeps the second factor, and so does a link for one', async () => {
    const { person, client, app } = await enroll();
    const password = 'a new one that is long';
    await ageSessions(stack);
    const changed = await client.post('/password', { current_password: person.password, new_password: password });
    expect(changed.status).toBe(204);
    expect(await factorOf(client)).toMatchObject({ confirmed: true });
    // The password does not prove the second factor that is due.
    expect((await client.post('/second-factors/recovery-codes')).body.code).toBe('authentication_required');
    const [{ user_agent }] = await knex('user_sessions as s')
      .join('users as u', 'u.id', 's.user_id')
      .where('u.email', person.email)
      .select('s.user_agent');
    expect(user_agent).not.toBeNull();
    expect((await startSignIn(portal, { ...person, password })).steps).toEqual(['code', 'recovery_code']);
    const invitation = { email: person.email, accountId: person.accountId, role: 'account_holder' } as const;
    const token = await createInvitation(connectionOf(knex), { ...invitation, memberRole: 'owner' }, 'test', 3_600_000);
    const invited = openPortalClient(portal);
    const accepted = await invited.post('/invitations/accept', { token, name: 'Same', password: 'another long one' });
    expect([accepted.status, accepted.body]).toEqual([200, { second_step: ['code', 'recovery_code'] }]);
    expect((await invited.get('/session')).body.code).toBe('not_signed_in');
    await forgetTimeSteps(stack);
    expect(await secondStep(invited, { code: await app.code() })).toBe(204);
  });
});

describe('confirming a session', () => {
  test('takes the password, and makes the proof recent', async () => {
    const person = await newPerson();
    const client = await signIn(portal, person);
    await ageSessions(stack);
    const change = () => client.put(`/accounts/${person.accountId}/second-factor`, { required: false });
    expect((await change()).body.code).toBe('authentication_required');
    expect((await client.post('/session/confirm', { password: 'not this one' })).body.code).toBe('wrong_credentials');
    expect((await client.post('/session/confirm', {})).body.code).toBe('wrong_credentials');
    expect((await change()).body.code).toBe('authentication_required');
    expect((await client.post('/session/confirm', { password: person.password })).status).toBe(204);
    expect((await change()).status).toBe(200);
    expect(await factorOf(client)).toMatchObject({ confirmed: false });
    expect((await entriesOf(person, 'session_confirmed')).map(({ details }) => details)).toEqual([
      { second_factor: false },
    ]);
  });

  test('of somebody who has a second factor takes that too', async () => {
    const { person, client, app, recoveryCodes } = await enroll();
    await knex('user_sessions').update({ second_factor: false });
    const { password } = person;
    const without = await client.post('/session/confirm', { password });
    expect([without.status, without.body.errors[0].pointer]).toEqual([422, '/code']);
    const wrong = await client.post('/session/confirm', { password, recovery_code: 'abcd' });
    expect(wrong.body.code).toBe('wrong_code');
    expect(await factorOf(client)).toMatchObject({ confirmed: false });
    const guess = { password: 'not this one', code: await app.code() };
    expect((await client.post('/session/confirm', guess)).body.code).toBe('wrong_credentials');
    expect((await client.post('/session/confirm', { password, code: await app.code() })).status).toBe(204);
    expect(await factorOf(client)).toMatchObject({ confirmed: true });
    const recovery = { password, recovery_code: recoveryCodes[0] };
    expect((await client.post('/session/confirm', recovery)).status).toBe(204);
    expect((await client.post('/session/confirm', recovery)).body.code).toBe('wrong_code');
  });

  test('takes a session, and wrong passwords are throttled like at the sign-in', async () => {
    const person = await newPerson();
    expect((await openPortalClient(portal).post('/session/confirm', { password: 'x' })).body.code).toBe(
      'not_signed_in',
    );
    const client = await signIn(portal, person);
    // 10 for the session, then 10 like a stranger.
    for (let round = 0; round < 20; round += 1)
      expect((await client.post('/session/confirm', { password: 'guess' })).status).toBe(401);
    expect((await client.post('/session/confirm', { password: person.password })).status).toBe(429);
    await knex('sign_in_attempts').delete();
  });
});

test('the log contains no code and no secret', () => {
  const log = JSON.stringify(portal.log.lines);
  expect(log).toContain('wrong_code');
  for (const secret of ['@example.test', 'otpauth', 'aaaa-bbbb', 'a new one that is long'])
    expect(log).not.toContain(secret);
});
