import { beforeAll, describe, expect, test } from '@jest/globals';
import { createPerson, type PortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { runOrders } from '../harness/run-command.ts';
import { addTotp, signInWithCode, startSignIn } from '../harness/second-factors.ts';
import type { RunningPortal } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal } = useStack({ portal: true });
/** Where operators need a second factor. */
let strict: RunningPortal;

beforeAll(async () => {
  strict = await stack.portal({ OPERATOR_SECOND_FACTOR: 'required' });
});

const codesOf = async (client: PortalClient, paths: string[]) =>
  Promise.all(paths.map(async (path) => (await client.get(path)).body.code ?? 200));
const entriesOf = (subject: string, action: string) => knex('audit_events').where({ subject, action });

const orders = (...argv: string[]) => runOrders(stack, ...argv);

/** What is left to somebody without the second factor that is required. */
const OPEN = ['/session', '/sessions', '/second-factors'];

describe('an operator', () => {
  test('without a second factor can only set one up, and can then do everything', async () => {
    const { id } = await stack.account();
    const closed = [
      '/operator/accounts',
      '/operator/users',
      '/operator/audit',
      `/accounts/${id}`,
      `/accounts/${id}/orders`,
    ];
    const client = await signIn(strict, await createPerson(stack, null));
    expect(await codesOf(client, closed)).toEqual(closed.map(() => 'second_factor_required'));
    expect(await codesOf(client, OPEN)).toEqual([200, 200, 200]);
    expect((await client.get('/session')).body.second_factor).toEqual({ required: true, confirmed: false, steps: [] });
    const changes = [
      await client.post('/operator/accounts', { name: 'New' }),
      await client.put(`/accounts/${id}/second-factor`, { required: false }),
      await client.post('/invitations/join', { token: 'x' }),
    ];
    expect(changes.map(({ body }) => body.code)).toEqual(Array(3).fill('second_factor_required'));
    await addTotp(stack, client);
    expect(await codesOf(client, closed)).toEqual(closed.map(() => 200));
    expect((await client.delete('/second-factors/totp')).body.code).toBe('last_second_factor');
    expect((await client.delete('/session')).status).toBe(204);
  });
});

describe('an account', () => {
  test('that requires a second factor is closed to members without, and their own pages are open', async () => {
    const { id } = await stack.account();
    const [owner, viewer] = [await createPerson(stack, id), await createPerson(stack, id, 'viewer')];
    const [byOwner, byViewer] = [await signIn(portal, owner), await signIn(portal, viewer)];
    const path = `/accounts/${id}/second-factor`;
    expect((await byViewer.put(path, { required: true })).body.code).toBe('not_permitted');
    for (const body of [{}, { required: 'yes' }, { required: true, more: 1 }])
      expect((await byOwner.put(path, body)).status).toBe(422);
    expect((await byOwner.get(`/accounts/${id}`)).body).toMatchObject({ second_factor_required: false });
    await addTotp(stack, byOwner);
    expect((await byOwner.put(path, { required: true })).body).toEqual({ required: true });
    // It is recorded once.
    await byOwner.put(path, { required: true });
    expect(await entriesOf(`account:${id}`, 'second_factor_requirement_changed')).toMatchObject([
      { account_id: id, actor: owner.email, details: { required: true } },
    ]);
    expect((await byOwner.get(`/accounts/${id}`)).body).toMatchObject({ second_factor_required: true });
    expect(await codesOf(byViewer, [`/accounts/${id}`, `/accounts/${id}/orders`])).toEqual([
      'second_factor_required',
      'second_factor_required',
    ]);
    expect(await codesOf(byViewer, OPEN)).toEqual([200, 200, 200]);
    expect((await byViewer.get('/session')).body.second_factor).toMatchObject({ required: true, confirmed: false });
    await addTotp(stack, byViewer);
    expect(await codesOf(byViewer, [`/accounts/${id}/orders`])).toEqual([200]);
  });

  test("another account's requirement is not found, and does not concern others", async () => {
    const [own, other] = [await stack.account(), await stack.account()];
    const client = await signIn(portal, await createPerson(stack, own.id));
    expect((await client.put(`/accounts/${other.id}/second-factor`, { required: true })).body.code).toBe(
      'account_not_found',
    );
    await orders('accounts', 'second-factor', String(other.id), 'required');
    expect(await codesOf(client, [`/accounts/${own.id}/orders`])).toEqual([200]);
  });

  test('gets and loses the requirement by the command line, with audit', async () => {
    const { id } = await stack.account();
    const set = async (what: string) => orders('accounts', 'second-factor', String(id), what, '--json');
    expect(JSON.parse((await set('required')).stdout)).toMatchObject({ account_id: id, second_factor_required: true });
    expect((await orders('accounts', 'show', String(id))).stdout).toMatch(/second factor +required/);
    expect(JSON.parse((await set('optional')).stdout)).toMatchObject({ second_factor_required: false });
    await set('optional');
    const entries = await entriesOf(`account:${id}`, 'second_factor_requirement_changed');
    expect(entries.map(({ details }) => details)).toEqual([{ required: true }, { required: false }]);
    expect((await set('sometimes')).code).toBe(2);
  });
});

describe('a reset', () => {
  /** A person with an authenticator app, signed in by it. */
  async function enroll(person: TestPerson): Promise<PortalClient> {
    const { app } = await addTotp(stack, await signIn(portal, person));
    return signInWithCode(portal, person, app);
  }

  test('by an operator removes the factors of a member and ends the sessions', async () => {
    const person = await createPerson(stack);
    const client = await enroll(person);
    const operator = await createPerson(stack, null);
    const byOperator = await signIn(portal, operator);
    const { body } = await byOperator.get(`/operator/users?account_id=${person.accountId}`);
    expect((await byOperator.delete(`/operator/users/${body.users[0].user_id}/second-factors`)).status).toBe(204);
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
    const { client: again, steps } = await startSignIn(portal, person);
    expect(steps).toBeUndefined();
    expect((await again.get('/second-factors')).body).toMatchObject({ totp: false, recovery_codes: 0 });
    expect(await entriesOf(`user:${person.email}`, 'second_factors_reset')).toMatchObject([
      { actor: operator.email, account_id: person.accountId },
    ]);
  });

  test('of another operator waits for an approval, and of oneself is refused', async () => {
    const [person, requester, approver] = [
      await createPerson(stack, null),
      await createPerson(stack, null),
      await createPerson(stack, null),
    ];
    const client = await enroll(person);
    const byRequester = await signIn(portal, requester);
    const users: { email: string; user_id: string }[] = (await byRequester.get('/operator/users')).body.users;
    const pathOf = ({ email }: TestPerson) =>
      `/operator/users/${users.find((user) => user.email === email)?.user_id}/second-factors`;
    expect((await byRequester.delete(pathOf(requester))).body.code).toBe('own_user');
    expect((await byRequester.delete('/operator/users/nobody/second-factors')).body.code).toBe('user_not_found');
    const { status, body } = await byRequester.delete(pathOf(person));
    expect([status, body.kind]).toEqual([202, 'reset_second_factor']);
    expect((await client.get('/second-factors')).body.totp).toBe(true);
    const byApprover = await signIn(portal, approver);
    expect((await byApprover.post(`/operator/changes/${body.change_id}/approve`)).status).toBe(204);
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
    expect((await startSignIn(portal, person)).steps).toBeUndefined();
  });

  test('is not possible for members', async () => {
    const { id } = await stack.account();
    const client = await signIn(portal, await createPerson(stack, id));
    expect((await client.delete('/operator/users/x/second-factors')).body.code).toBe('not_found');
  });

  test('by the command line works for everybody', async () => {
    const person = await createPerson(stack, null);
    const client = await enroll(person);
    const { code, stdout } = await orders('users', 'reset-second-factor', person.email);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${person.email} has no second factor any more`)]);
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
    expect((await startSignIn(portal, person)).steps).toBeUndefined();
    expect(await entriesOf(`user:${person.email}`, 'second_factors_reset')).toHaveLength(1);
    const unknown = await orders('users', 'reset-second-factor', 'nobody@example.test');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('There is no user')]);
  });
});

test.each([
  ['https://orders.example.com', 'optional'],
  ['https://localhost.example.com', 'optional'],
  ['https://192.168.0.1:8081', 'optional'],
  ['http://localhost:8081', 'sometimes'],
])('for a portal at %s, OPERATOR_SECOND_FACTOR=%s is a configuration error', async (url, setting) => {
  const started = stack.portal({ PORTAL_URL: url, OPERATOR_SECOND_FACTOR: setting }).then(() => 'it started');
  const message = await started.catch((error: Error) => error.message);
  expect(message).toMatch(/^Configuration: OPERATOR_SECOND_FACTOR [^\n]+\.$/);
});

test.each(['http://localhost:8081', 'http://127.0.0.1', 'http://[::1]:8081', 'https://localhost'])(
  'a portal at %s may leave it to its operators',
  async (url) => {
    const lenient = await stack.portal({ PORTAL_URL: url, OPERATOR_SECOND_FACTOR: 'optional' });
    await lenient.close();
  },
);
