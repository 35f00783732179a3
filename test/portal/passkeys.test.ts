import { describe, expect, test } from '@jest/globals';
import { removeOldSignIns } from '@orders/database/users/sign-in-attempts.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { codeOf } from '../harness/api.ts';
import { createAuthenticator, type Deviation } from '../harness/authenticator.ts';
import { createPerson, openPortalClient, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { addPasskey, ageSessions, startSignIn } from '../harness/second-factors.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal } = useStack({ portal: true });

const newPerson = () => createPerson(stack);

/** A person with a passkey, signed in by password. */
async function enroll() {
  const person = await newPerson();
  const client = await signIn(portal, person);
  const authenticator = createAuthenticator(portal.url);
  const { status, body } = await addPasskey(client, authenticator);
  expect(status).toBe(201);
  return {
    person,
    client,
    authenticator,
    passkeyId: body.passkey_id as string,
    codes: body.recovery_codes as string[],
  };
}

type Authenticator = ReturnType<typeof createAuthenticator>;

/** Signs in by passkey. @returns 204, or the status and code of the refusal. */
async function signInBy(authenticator: Authenticator, client: PortalClient, deviation: Deviation = {}) {
  const options = await client.post('/session/passkey/options');
  const reply = await client.post('/session/passkey', { passkey: authenticator.signIn(options.body, deviation) });
  return reply.status === 204 ? 204 : [reply.status, reply.body.code];
}

const REJECTED = [401, 'passkey_rejected'];
const entriesOf = ({ email }: TestPerson, action: string) =>
  knex('audit_events')
    .where({ subject: `user:${email}`, action })
    .orderBy('event_id');

const DEVIATIONS: [string, Deviation][] = [
  ['whose authenticator has not verified its user', { userVerified: false }],
  ['for a page of another origin', { origin: 'https://evil.test' }],
  ['for another host', { rpId: 'evil.test' }],
  ['to another challenge', { challenge: 'AAAA' }],
];

describe('a passkey', () => {
  test('is registered once, and signs in as both factors', async () => {
    const { person, client, authenticator, passkeyId, codes } = await enroll();
    expect(codes).toHaveLength(10);
    expect((await client.get('/second-factors')).body).toEqual({
      totp: false,
      passkeys: [{ passkey_id: passkeyId, name: 'Test', created_at: expect.any(String) }],
      recovery_codes: 10,
      required: false,
    });
    const other = openPortalClient(portal);
    expect(await signInBy(authenticator, other)).toBe(204);
    const { body } = await other.get('/session');
    expect([body.email, body.second_factor]).toEqual([
      person.email,
      { required: false, confirmed: true, steps: ['passkey', 'recovery_code'] },
    ]);
    expect((await entriesOf(person, 'signed_in')).at(-1).details).toMatchObject({ second_factor: 'passkey' });
    expect(await entriesOf(person, 'second_factor_added')).toMatchObject([{ details: { factor: 'passkey' } }]);
    const again = await addPasskey(client, authenticator);
    expect(codeOf(again)).toEqual(REJECTED);
  });

  test('makes a password alone insufficient', async () => {
    const { person, authenticator, codes } = await enroll();
    const { client, steps } = await startSignIn(portal, person);
    expect(steps).toEqual(['passkey', 'recovery_code']);
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
    // No app has made it.
    expect((await client.post('/session/second-factor', { code: '123456' })).body.code).toBe('wrong_code');
    expect((await client.post('/session/second-factor', { recovery_code: codes[0] })).status).toBe(204);
    expect(await signInBy(authenticator, openPortalClient(portal))).toBe(204);
  });

  test('is needed even if the library has not noted it yet', async () => {
    const { person, client } = await enroll();
    await knex('users').where({ email: person.email }).update({ two_factor_enabled: false });
    const weak = await signIn(portal, person);
    const path = `/accounts/${person.accountId}`;
    expect((await weak.get(path)).body.code).toBe('second_factor_required');
    expect((await client.get(path)).status).toBe(200);
  });

  test('is asked to verify its user', async () => {
    const { client } = await enroll();
    expect((await client.post('/second-factors/passkeys/options')).body.authenticatorSelection).toMatchObject({
      userVerification: 'required',
      residentKey: 'required',
    });
    const { body } = await openPortalClient(portal).post('/session/passkey/options');
    expect(body).toMatchObject({ userVerification: 'required', rpId: '127.0.0.1' });
    expect(body.allowCredentials).toBeUndefined();
  });

  test('is removed by its owner only', async () => {
    const [own, other] = [await enroll(), await enroll()];
    const path = `/second-factors/passkeys/${own.passkeyId}`;
    expect((await other.client.delete(path)).body.code).toBe('second_factor_not_found');
    expect((await own.client.delete(path)).status).toBe(204);
    expect(await signInBy(own.authenticator, openPortalClient(portal))).toEqual(REJECTED);
    expect((await startSignIn(portal, own.person)).steps).toBeUndefined();
  });

  test('cannot be added without end', async () => {
    const { client, person } = await enroll();
    const [{ user_id, ...row }] = await knex('user_passkeys as p')
      .join('users as u', 'u.id', 'p.user_id')
      .where('u.email', person.email)
      .select('p.*');
    const copies = Array.from({ length: 19 }, (_, n) => ({
      ...row,
      user_id,
      id: `${row.id}${n}`,
      credential_id: `${n}`,
    }));
    await knex('user_passkeys').insert(copies);
    expect((await client.post('/second-factors/passkeys/options')).body.code).toBe('too_many_passkeys');
    await knex('user_passkeys')
      .whereIn(
        'credential_id',
        copies.map((copy) => copy.credential_id),
      )
      .delete();
  });
});

describe('a registration', () => {
  test.each(DEVIATIONS)('%s is refused', async (_, deviation) => {
    const client = await signIn(portal, await newPerson());
    const options = await client.post('/second-factors/passkeys/options');
    const passkey = createAuthenticator(portal.url).register(options.body, deviation);
    const reply = await client.post('/second-factors/passkeys', { name: 'Test', passkey });
    expect(codeOf(reply)).toEqual(REJECTED);
    expect((await client.get('/second-factors')).body.passkeys).toEqual([]);
  });

  test('uses its challenge once, in the browser and session that asked for it', async () => {
    const [own, other] = [await signIn(portal, await newPerson()), await signIn(portal, await newPerson())];
    const options = (await own.post('/second-factors/passkeys/options')).body;
    const send = async (client: PortalClient) => {
      const passkey = createAuthenticator(portal.url).register(options);
      return (await client.post('/second-factors/passkeys', { name: 'Test', passkey })).status;
    };
    expect(await send(other)).toBe(401);
    expect([await send(own), await send(own)]).toEqual([201, 401]);
  });

  test('of a challenge for signing in is refused', async () => {
    const client = await signIn(portal, await newPerson());
    const options = await client.post('/session/passkey/options');
    const passkey = createAuthenticator(portal.url).register(options.body);
    expect((await client.post('/second-factors/passkeys', { name: 'Test', passkey })).body.code).toBe(
      'passkey_rejected',
    );
  });

  test.each([
    ['no name', { passkey: { id: 'x', response: {} } }, 422],
    ['a name with a line break', { name: 'a\nb', passkey: { id: 'x', response: {} } }, 422],
    ['no response', { name: 'Test' }, 422],
    ['a response of the wrong form', { name: 'Test', passkey: { id: 'x', response: { attestationObject: 1 } } }, 401],
  ])('with %s is refused', async (_, body, status) => {
    const client = await signIn(portal, await newPerson());
    await client.post('/second-factors/passkeys/options');
    expect((await client.post('/second-factors/passkeys', body)).status).toBe(status);
  });
});

describe('a sign-in by passkey', () => {
  test.each([...DEVIATIONS, ['that another key has signed', { forged: true }] as [string, Deviation]])(
    '%s is refused and recorded',
    async (_, deviation) => {
      const { person, authenticator } = await enroll();
      await knex('sign_in_attempts').delete();
      const client = openPortalClient(portal);
      expect(await signInBy(authenticator, client, deviation)).toEqual(REJECTED);
      expect((await client.get('/session')).body.code).toBe('not_signed_in');
      expect(await entriesOf(person, 'sign_in_failed')).toHaveLength(1);
      expect(await signInBy(authenticator, client)).toBe(204);
    },
  );

  test('uses its challenge once, in the browser that asked for it, within its time', async () => {
    const { authenticator } = await enroll();
    const client = openPortalClient(portal);
    const options = (await client.post('/session/passkey/options')).body;
    const send = async (by: PortalClient) =>
      (await by.post('/session/passkey', { passkey: authenticator.signIn(options) })).status;
    expect(await send(openPortalClient(portal))).toBe(401);
    expect([await send(client), await send(client)]).toEqual([204, 401]);
    const late = openPortalClient(portal);
    const expiring = (await late.post('/session/passkey/options')).body;
    await knex('user_verifications').update({ expires_at: new Date(0) });
    const passkey = authenticator.signIn(expiring);
    expect((await late.post('/session/passkey', { passkey })).body.code).toBe('passkey_rejected');
  });

  test('of an unknown passkey, and of a wrong form, is refused', async () => {
    expect(await signInBy(createAuthenticator(portal.url), openPortalClient(portal))).toEqual(REJECTED);
    const client = openPortalClient(portal);
    await client.post('/session/passkey/options');
    const forms = [{}, { passkey: null }, { passkey: { id: { $ne: null }, response: {} } }, { passkey: { id: 'x' } }];
    for (const body of forms) expect((await client.post('/session/passkey', body)).status).toBe(422);
    expect((await client.post('/session/passkey', { passkey: { id: 'x', response: {} } })).status).toBe(401);
  });

  test('is limited by network, and leaves no challenges after their time', async () => {
    await openPortalClient(portal).post('/session/passkey/options');
    await knex('sign_in_attempts').update({ attempts: 300 });
    const reply = await openPortalClient(portal).post('/session/passkey/options');
    expect(codeOf(reply)).toEqual([429, 'too_many_attempts']);
    await knex('sign_in_attempts').delete();
    await knex('user_verifications').update({ expires_at: new Date(0) });
    await removeOldSignIns(connectionOf(knex));
    expect(await knex('user_verifications')).toEqual([]);
  });

  test.each([
    ['networks of /64 in one /56', 600, (at: number) => `2001:db8:0:12${at.toString(16).padStart(2, '0')}::1`],
    ['networks of /56 in one /48', 1200, (at: number) => `2001:db8:0:${at.toString(16).padStart(2, '0')}00::1`],
    ['addresses in one /24', 1200, (at: number) => `198.51.100.${at + 1}`],
  ])('is limited for many %s together: %i', async (_, max, networkOf) => {
    await knex('sign_in_attempts').delete();
    const statusFrom = async (network: string) => {
      const headers = { Origin: portal.url, 'X-Forwarded-For': network };
      return (await fetch(`${portal.url}/api/session/passkey/options`, { method: 'POST', headers })).status;
    };
    expect(await statusFrom(networkOf(0))).toBe(200);
    await knex('sign_in_attempts').update({ attempts: max - 1 });
    expect([await statusFrom(networkOf(1)), await statusFrom(networkOf(2))]).toEqual([200, 429]);
    expect(await statusFrom('192.0.2.1')).toBe(200);
  });

  test('on https has cookies that only this host gets', async () => {
    const origin = 'https://orders.example.com';
    const secure = await stack.portal({ PORTAL_URL: origin });
    const reply = await fetch(`${secure.url}/api/session/passkey/options`, {
      method: 'POST',
      headers: { Origin: origin },
    });
    expect(reply.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-orders\.passkey_challenge=[^;]+; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
    expect(await reply.json()).toMatchObject({ rpId: 'orders.example.com' });
    const { person } = await enroll();
    const first = await fetch(`${secure.url}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify({ email: person.email, password: person.password }),
    });
    const challenge = first.headers.getSetCookie().find((cookie) => cookie.includes('two_factor'));
    expect(challenge).toMatch(
      /^__Host-orders\.two_factor=[^;]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    await secure.close();
  });
});

describe('confirming a session by passkey', () => {
  const confirm = async (client: PortalClient, authenticator: Authenticator, deviation: Deviation = {}) => {
    const options = await client.post('/session/passkey/options');
    const passkey = authenticator.signIn(options.body, deviation);
    return client.post('/session/confirm', { passkey });
  };

  test('makes the proof recent, with a second factor, and opens no other session', async () => {
    const { client, authenticator } = await enroll();
    await ageSessions(stack);
    await knex('user_sessions').update({ second_factor: false });
    expect((await client.post('/second-factors/recovery-codes')).body.code).toBe('authentication_required');
    const { length } = await knex('user_sessions');
    const reply = await confirm(client, authenticator);
    expect([reply.status, reply.headers['set-cookie']]).toEqual([204, undefined]);
    expect(await knex('user_sessions')).toHaveLength(length);
    expect((await client.post('/second-factors/recovery-codes')).status).toBe(200);
  });

  test("asks for the user's passkeys, and refuses somebody else's", async () => {
    const [own, other] = [await enroll(), await enroll()];
    await ageSessions(stack);
    const { body } = await own.client.post('/session/passkey/options');
    expect(body.allowCredentials).toMatchObject([{ id: own.authenticator.id }]);
    const { length } = await knex('user_sessions');
    expect((await confirm(own.client, other.authenticator)).body.code).toBe('passkey_rejected');
    expect(await entriesOf(own.person, 'sign_in_failed')).toHaveLength(1);
    expect((await confirm(own.client, own.authenticator, { userVerified: false })).body.code).toBe('passkey_rejected');
    expect(await knex('user_sessions')).toHaveLength(length);
    expect((await own.client.get('/session')).body.email).toBe(own.person.email);
    expect((await own.client.post('/second-factors/recovery-codes')).body.code).toBe('authentication_required');
  });
});
