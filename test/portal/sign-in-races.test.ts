import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { hashPassword } from '@orders/database/users/passwords.ts';
import { resetSecondFactors } from '@orders/database/users/second-factors.ts';
import { endSessions } from '@orders/database/users/sessions.ts';
import { findUser } from '@orders/database/users/users.ts';
import { createPasswordReset, usePasswordReset } from '@orders/portal/sign-in/password-reset-routes.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import type { Knex } from 'knex';
import { codeOf, type Reply } from '../harness/api.ts';
import { createAuthenticator } from '../harness/authenticator.ts';
import { whoWait } from '../harness/barriers.ts';
import { openPortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { addPasskey, addTotp, appOf, signInWithCode, startSignIn } from '../harness/second-factors.ts';
import { TEST_HASH_COST } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

let newHash: string;

const { stack, knex, db, portal, person } = useStack({ portal: true, person: 'each test' });

beforeAll(async () => {
  newHash = await hashPassword(NEW_PASSWORD, Number(TEST_HASH_COST));
});
beforeEach(async () => {
  await knex('sign_in_attempts').delete();
});

const NEW_PASSWORD = 'a new one that is long';
const ANOTHER_PASSWORD = 'another marble vortex 88';

const idOf = async ({ email }: TestPerson) => (await findUser(db, email))?.user_id as string;

type Change = (trx: Knex, person: TestPerson) => Promise<unknown>;

const setByLink: Change = async (trx, person) =>
  usePasswordReset(
    connectionOf(trx),
    await createPasswordReset(connectionOf(trx), await idOf(person), 3_600_000),
    newHash,
  );
const resetFactors: Change = (trx, { email }) => resetSecondFactors(connectionOf(trx), email, 'test');

/** Sends a request that reaches its change while another change of the user is made, and is committed first. */
async function overtake(person: TestPerson, change: Change, send: () => Promise<Reply>): Promise<Reply> {
  const trx = await knex.transaction();
  await change(trx, person);
  const reply = send();
  await whoWait(knex, 1, 'transactionid');
  await trx.commit();
  return reply;
}

const statusesOf = async (person: TestPerson, ...passwords: string[]) => {
  const statuses = [];
  for (const password of passwords)
    statuses.push((await openPortalClient(portal).post('/session', { email: person.email, password })).status);
  return statuses;
};

const sessionsOf = async (person: TestPerson) => knex('user_sessions').where({ user_id: await idOf(person) });

describe('a new password by a link ends', () => {
  test('a sign-in with the old password that is being checked', async () => {
    const client = openPortalClient(portal);
    const reply = await overtake(person, setByLink, () =>
      client.post('/session', { email: person.email, password: person.password }),
    );
    expect(codeOf(reply)).toEqual([401, 'wrong_credentials']);
    expect(reply.headers['set-cookie']).toBeUndefined();
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
    expect(await sessionsOf(person)).toEqual([]);
  });

  test('the same with a second factor, which is not asked for', async () => {
    const { app } = await addTotp(stack, await signIn(portal, person));
    const client = openPortalClient(portal);
    const reply = await overtake(person, setByLink, () =>
      client.post('/session', { email: person.email, password: person.password }),
    );
    expect(codeOf(reply)).toEqual([401, 'wrong_credentials']);
    expect((await client.post('/session/second-factor', { code: await app.code() })).body.code).toBe('sign_in_expired');
  });

  test('a change of the password that is being made', async () => {
    const client = await signIn(portal, person);
    const body = { current_password: person.password, new_password: ANOTHER_PASSWORD };
    const reply = await overtake(person, setByLink, () => client.post('/password', body));
    expect(codeOf(reply)).toEqual([401, 'not_signed_in']);
    expect(await sessionsOf(person)).toEqual([]);
    expect(await statusesOf(person, NEW_PASSWORD, ANOTHER_PASSWORD)).toEqual([204, 401]);
  });

  test('a second step that is due', async () => {
    const { app } = await addTotp(stack, await signIn(portal, person));
    const { client, steps } = await startSignIn(portal, person);
    expect(steps).toEqual(['code', 'recovery_code']);
    await knex.transaction((trx) => setByLink(trx, person));
    expect((await client.post('/session/second-factor', { code: await app.code() })).body.code).toBe('sign_in_expired');
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
  });

  test('the set-up of an app', async () => {
    const client = await signIn(portal, person);
    const code = await appOf((await client.post('/second-factors/totp')).body.uri).code();
    const reply = await overtake(person, setByLink, () => client.post('/second-factors/totp/verify', { code }));
    expect(codeOf(reply)).toEqual([401, 'not_signed_in']);
    expect(await statusesOf(person, NEW_PASSWORD)).toEqual([204]);
  });
});

test('of two changes of the password with the same current one, the second is refused', async () => {
  const client = await signIn(portal, person);
  // The sessions stay, unlike with a change over HTTP.
  const change: Change = async (trx) => {
    const [user_id, id] = [await idOf(person), 'another'];
    await trx('users').where({ id: user_id }).forUpdate().select('id');
    await trx('user_credentials').where({ user_id }).update({ id, password: newHash });
  };
  const body = { current_password: person.password, new_password: ANOTHER_PASSWORD };
  const reply = await overtake(person, change, () => client.post('/password', body));
  expect(codeOf(reply)).toEqual([401, 'wrong_credentials']);
  expect(await statusesOf(person, NEW_PASSWORD, ANOTHER_PASSWORD)).toEqual([204, 401]);
});

test('a passkey is not kept if the session ends while it is registered', async () => {
  const client = await signIn(portal, person);
  const { body } = await client.post('/second-factors/passkeys/options');
  const passkey = createAuthenticator(portal.url).register(body);
  const change: Change = async (trx) => {
    const user_id = await idOf(person);
    await trx('users').where({ id: user_id }).forUpdate().select('id');
    await trx('user_sessions').where({ user_id }).delete();
  };
  const reply = await overtake(person, change, () =>
    client.post('/second-factors/passkeys', { name: 'Test', passkey }),
  );
  expect(codeOf(reply)).toEqual([401, 'not_signed_in']);
  expect((await startSignIn(portal, person)).steps).toBeUndefined();
  expect((await (await signIn(portal, person)).get('/second-factors')).body).toMatchObject({ passkeys: [] });
});

test('ending all sessions of a user ends new recovery codes that are being made', async () => {
  const client = await signIn(portal, person);
  const { app } = await addTotp(stack, client);
  const change: Change = async (trx) => endSessions(connectionOf(trx), await idOf(person));
  const reply = await overtake(person, change, () => client.post('/second-factors/recovery-codes'));
  expect(codeOf(reply)).toEqual([401, 'not_signed_in']);
  await signInWithCode(portal, person, app);
});

describe('a reset of the second factors ends', () => {
  test('the registration of a passkey', async () => {
    const client = await signIn(portal, person);
    await addTotp(stack, client);
    const authenticator = createAuthenticator(portal.url);
    const { body } = await client.post('/second-factors/passkeys/options');
    const passkey = authenticator.register(body);
    const reply = await overtake(person, resetFactors, () =>
      client.post('/second-factors/passkeys', { name: 'Test', passkey }),
    );
    expect(codeOf(reply)).toEqual([401, 'passkey_rejected']);
    expect(await knex('user_passkeys').where({ user_id: await idOf(person) })).toEqual([]);
    expect((await startSignIn(portal, person)).steps).toBeUndefined();
  });

  test('new recovery codes', async () => {
    const client = await signIn(portal, person);
    await addTotp(stack, client);
    const reply = await overtake(person, resetFactors, () => client.post('/second-factors/recovery-codes'));
    expect(codeOf(reply)).toEqual([401, 'not_signed_in']);
    expect((await startSignIn(portal, person)).steps).toBeUndefined();
  });

  test('a sign-in by a passkey of before', async () => {
    const authenticator = createAuthenticator(portal.url);
    await addPasskey(await signIn(portal, person), authenticator);
    const client = openPortalClient(portal);
    const { body } = await client.post('/session/passkey/options');
    const reply = await overtake(person, resetFactors, () =>
      client.post('/session/passkey', { passkey: authenticator.signIn(body) }),
    );
    expect(codeOf(reply)).toEqual([401, 'passkey_rejected']);
    expect(await sessionsOf(person)).toEqual([]);
  });

  test('the lock of codes after wrong ones', async () => {
    await addTotp(stack, await signIn(portal, person));
    const { client } = await startSignIn(portal, person);
    await client.post('/session/second-factor', { code: '000000' });
    await knex('sign_in_attempts').whereLike('key', 'codes%').update({ attempts: 50 });
    const refused = await client.post('/session/second-factor', { code: '000000' });
    expect(refused.body.code).toBe('too_many_attempts');
    await knex.transaction((trx) => resetFactors(trx, person));
    await addTotp(stack, await signIn(portal, person));
  });

  test('challenges of its sessions for passkeys', async () => {
    const client = await signIn(portal, person);
    await client.post('/second-factors/passkeys/options');
    const challenges = async () => knex('user_verifications').whereLike('value', `%${await idOf(person)}%`);
    expect(await challenges()).toHaveLength(1);
    await knex.transaction((trx) => resetFactors(trx, person));
    expect(await challenges()).toEqual([]);
  });
});
