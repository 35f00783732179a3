import { expect, test } from '@jest/globals';
import { below, createPerson, openShop, signIn } from '../harness/people.ts';
import { listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal, shop } = useStack({ portal: true, shop: 'each test' });

const set = (minutes: unknown) => shop.client.put(`/accounts/${shop.account.id}/review-target`, { minutes });
const polled = async () => (await shop.get('/orders/updates?after=0')).body.review_target_minutes;

test('the target is read and changed by the holder and operators, is in each poll, and each change is recorded', async () => {
  const path = `/accounts/${shop.account.id}/review-target`;
  expect((await shop.get('/review-target')).body).toEqual({ minutes: null });
  expect(await polled()).toBeNull();
  await set(null);
  expect(await set(60)).toMatchObject({ status: 200, body: { minutes: 60 } });
  expect(await set(60)).toMatchObject({ status: 200, body: { minutes: 60 } });
  expect((await shop.get('/review-target')).body).toEqual({ minutes: 60 });
  expect(await polled()).toBe(60);
  const operator = await createPerson(stack, null);
  const client = await signIn(portal, operator);
  expect((await client.get(path)).body).toEqual({ minutes: 60 });
  expect((await client.put(path, { minutes: null })).body).toEqual({ minutes: null });
  expect(await polled()).toBeNull();
  const [action, subject] = ['review_target_changed', `account:${shop.account.id}`];
  expect(await listChanges(knex, shop.account.id, 20)).toEqual([
    { actor: operator.email, action, subject, details: { review_target_minutes: 'none' } },
    { actor: shop.person.email, action, subject, details: { review_target_minutes: 60 } },
  ]);
});

test.each([
  {},
  { minutes: '60' },
  { minutes: 0 },
  { minutes: 10_081 },
  { minutes: 1.5 },
  { minutes: 60, account_id: 1 },
])('the target %j is rejected', async (body) => {
  const reply = await shop.client.put(`/accounts/${shop.account.id}/review-target`, body);
  expect([reply.status, reply.body.code]).toEqual([422, 'invalid_request']);
});

test.each([1, 10_080])('%i minutes are accepted', async (minutes) => {
  expect((await set(minutes)).status).toBe(200);
  expect(await polled()).toBe(minutes);
});

test('the target of another account is neither shown nor changed', async () => {
  await set(60);
  const { client, ...other } = await openShop(stack, portal);
  expect((await other.get('/review-target')).body).toEqual({ minutes: null });
  expect((await other.get('/orders/updates?after=0')).body.review_target_minutes).toBeNull();
  const replies = [
    await below(client, shop.account.id).get('/review-target'),
    await client.put(`/accounts/${shop.account.id}/review-target`, { minutes: 15 }),
  ];
  for (const reply of replies) expect(reply).toMatchObject({ status: 404, body: { code: 'account_not_found' } });
  expect(await polled()).toBe(60);
});

test.each(['en', 'ar'])('a change of the target has its words in the activity log in %s', async (language) => {
  const { default: texts } = await import(`../../apps/portal/page/src/locales/${language}/audit.json`, {
    with: { type: 'json' },
  });
  expect(texts.action.review_target_changed).toEqual(expect.any(String));
  expect(texts.detail.review_target_minutes).toEqual(expect.any(String));
});
