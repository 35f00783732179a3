import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { removeOldRequests } from '@orders/database/users/portal-requests.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { openPortalClient, openShop, signIn } from '../harness/people.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, portal } = useStack({ portal: true });

const signInOwner = () => openShop(stack, portal, { signing: false });

const keysNamed = (accountId: number, name: string) => knex('api_keys').where({ account_id: accountId, name });

const storedRequest = async (requestId: string) => {
  const [row] = await knex('portal_requests').where({ request_id: requestId });
  return row;
};

const age = (requestId: string, minutes: number) =>
  knex('portal_requests')
    .where({ request_id: requestId })
    .update({ at: knex.raw(`now() - ${minutes} * interval '1 minute'`) });

test('a repetition gets the same key and makes no other; the text of the key is stored sealed', async () => {
  const { account, client, base } = await signInOwner();
  const id = randomUUID();
  const first = await client.post(`${base}/keys`, { name: 'twice' }, id);
  expect(first).toMatchObject({ status: 201, body: { key: expect.any(String) } });
  const again = await client.post(`${base}/keys`, { name: 'twice' }, id);
  expect(again).toMatchObject({ status: 201, body: first.body });
  expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'cache-control': 'no-store, no-transform' });
  expect(await keysNamed(account.id, 'twice')).toHaveLength(1);
  expect(String((await storedRequest(id)).reply)).not.toContain(first.body.key);

  expect((await client.post(`${base}/keys`, { name: 'twice' }, randomUUID())).status).toBe(201);
  expect(await keysNamed(account.id, 'twice')).toHaveLength(2);
});

test('sent to two portals at the same time it is carried out once, and both get the key', async () => {
  const other = await stack.portal();
  const { account, person, client, base } = await signInOwner();
  const elsewhere = await signIn(other, person);
  const id = randomUUID();
  const held = await hold(knex, 'lock table api_keys in exclusive mode');
  const first = client.post(`${base}/keys`, { name: 'at once' }, id);
  await whoWait(knex, 1, 'relation');
  const second = elsewhere.post(`${base}/keys`, { name: 'at once' }, id);
  // By then the second portal most likely has the request; the outcome is the same if not.
  await elsewhere.get(`${base}/keys`);
  await held.release();
  const replies = await Promise.all([first, second]);
  expect(replies.map(({ status }) => status)).toEqual([201, 201]);
  expect(replies[0].body).toEqual(replies[1].body);
  expect(await keysNamed(account.id, 'at once')).toHaveLength(1);
});

test('a response that the client did not receive is there for the repetition', async () => {
  const { account, client, base, person } = await signInOwner();
  const id = randomUUID();
  const held = await hold(knex, 'lock table api_keys in exclusive mode');
  const leaving = new AbortController();
  const cookie = await sessionCookie(person);
  const lost = fetch(`${portal.url}/api${base}/keys`, {
    method: 'POST',
    headers: { Cookie: cookie, Origin: portal.url, 'Content-Type': 'application/json', 'Idempotency-Key': id },
    body: JSON.stringify({ name: 'lost' }),
    signal: leaving.signal,
  });
  await whoWait(knex, 1, 'relation');
  leaving.abort();
  await expect(lost).rejects.toThrow();
  const again = client.post(`${base}/keys`, { name: 'lost' }, id);
  await held.release();
  expect(await again).toMatchObject({ status: 201, body: { key: expect.any(String) } });
  expect(await keysNamed(account.id, 'lost')).toHaveLength(1);
});

async function sessionCookie({ email, password }: { email: string; password: string }): Promise<string> {
  const reply = await openPortalClient(portal).post('/session', { email, password });
  return [reply.headers['set-cookie']]
    .flat()
    .map((cookie) => String(cookie).split(';')[0])
    .join('; ');
}

test('a response without a body is repeated too', async () => {
  const { client } = await signInOwner();
  const id = randomUUID();
  const answer = () => client.post('/new-sign-ins/of-nobody', { was_me: true }, id);
  expect((await answer()).status).toBe(204);
  expect(await answer()).toMatchObject({ status: 204, headers: { 'idempotent-replayed': 'true' } });
});

test('a rejected request changed nothing: it can be sent again with its key', async () => {
  const { client, base } = await signInOwner();
  const view = { name: 'Mine', query: 'q=1' };
  const { view_id } = (await client.post(`${base}/views`, view)).body;
  const id = randomUUID();
  expect((await client.post(`${base}/views`, view, id)).body.code).toBe('conflicting_state');
  await client.delete(`${base}/views/${view_id}`);
  const made = await client.post(`${base}/views`, view, id);
  expect(made.status).toBe(201);
  expect((await client.post(`${base}/views`, view, id)).body).toEqual(made.body);
});

test('a key is for one request of one user', async () => {
  const [owner, stranger] = [await signInOwner(), await signInOwner()];
  const id = randomUUID();
  const made = await owner.client.post(`${owner.base}/keys`, { name: 'mine' }, id);
  const reused = { status: 400, body: { code: 'invalid_idempotency_key' } };
  expect(await owner.client.post(`${owner.base}/keys`, { name: 'other' }, id)).toMatchObject(reused);
  expect(await owner.client.post(`${owner.base}/views`, { name: 'mine' }, id)).toMatchObject(reused);
  expect(await owner.client.post(`${owner.base}/keys`, { name: 'mine' }, 'not-a-uuid')).toMatchObject(reused);
  const theirs = await stranger.client.post(`${stranger.base}/keys`, { name: 'mine' }, id);
  expect(theirs.status).toBe(201);
  expect(theirs.body.key).not.toBe(made.body.key);
});

test('an old response is not repeated, and nothing is done again; after a day the request is forgotten', async () => {
  const { account, client, base } = await signInOwner();
  const id = randomUUID();
  const send = () => client.post(`${base}/keys`, { name: 'old' }, id);
  await send();
  await age(id, 11);
  expect(await send()).toMatchObject({ status: 409, body: { code: 'already_done' } });
  await removeOldRequests(db);
  expect(await storedRequest(id)).toMatchObject({ status: 201, reply: null });
  expect(await send()).toMatchObject({ status: 409, body: { code: 'already_done' } });
  expect(await keysNamed(account.id, 'old')).toHaveLength(1);
  await age(id, 24 * 60 + 1);
  await removeOldRequests(db);
  expect(await storedRequest(id)).toBeUndefined();
});

test('if the process crashed or failed meanwhile, a repetition says that the outcome is unknown', async () => {
  const { account, client, base } = await signInOwner();
  for (const status of [null, 503]) {
    const id = randomUUID();
    await client.post(`${base}/keys`, { name: `unknown ${status}` }, id);
    await knex('portal_requests').where({ request_id: id }).update({ status, reply: null });
    await age(id, 2);
    expect(await client.post(`${base}/keys`, { name: `unknown ${status}` }, id)).toMatchObject({
      status: 409,
      body: { code: 'outcome_unknown' },
    });
    expect(await keysNamed(account.id, `unknown ${status}`)).toHaveLength(1);
  }
});
