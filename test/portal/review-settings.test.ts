import { describe, expect, test } from '@jest/globals';
import { codeOf, type Reply } from '../harness/api.ts';
import { below, createPerson, openShop, type PortalClient, signIn } from '../harness/people.ts';
import type { TestAccount } from '../harness/stack.ts';
import { listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal, shop } = useStack({ portal: true, shop: 'each test' });

/** The views of a new user in one account. */
async function openViews(account: TestAccount) {
  const client = await signIn(portal, await createPerson(stack, account.id));
  return viewsOf(client, account);
}

function viewsOf(client: PortalClient, { id }: TestAccount) {
  const path = `/accounts/${id}/views`;
  return {
    list: () => client.get(path),
    save: (name: string, query = 'state=confirmed') => client.post(path, { name, query }),
    remove: (viewId: number | string) => client.delete(`${path}/${viewId}`),
  };
}

const namesOf = ({ status, body }: Reply): string[] => {
  expect(status).toBe(200);
  return body.views.map(({ name }: { name: string }) => name);
};

test('a saved view is listed with its name and query until it is deleted', async () => {
  const views = await openViews(await stack.account());
  expect(namesOf(await views.list())).toEqual([]);
  const saved = await views.save(' دبي, urgent ', 'severity=check&q=%D8%AF%D8%A8%D9%8A');
  const view = { view_id: saved.body.view_id, name: 'دبي, urgent', query: 'severity=check&q=%D8%AF%D8%A8%D9%8A' };
  expect([saved.status, saved.body]).toEqual([201, view]);
  await views.save('All', '');
  expect((await views.list()).body).toEqual({ views: [view, expect.objectContaining({ name: 'All', query: '' })] });
  expect((await views.remove(view.view_id)).status).toBe(204);
  expect(namesOf(await views.list())).toEqual(['All']);
  expect(codeOf(await views.remove(view.view_id))).toEqual([404, 'not_found']);
  expect(codeOf(await views.remove('x'))).toEqual([404, 'not_found']);
});

test('a user has one view of each name', async () => {
  const views = await openViews(await stack.account());
  expect((await views.save('Dubai')).status).toBe(201);
  const replies = await Promise.all([views.save('Dubai'), views.save('Sharjah'), views.save('Sharjah')]);
  expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
  expect(codeOf(await views.save(' Dubai '))).toEqual([409, 'conflicting_state']);
  expect(namesOf(await views.list())).toEqual(['Dubai', 'Sharjah']);
});

test('names and queries have limits', async () => {
  const views = await openViews(await stack.account());
  const long = { name: 'n'.repeat(60), query: 'q'.repeat(500) };
  expect((await views.save(long.name, long.query)).status).toBe(201);
  for (const [name, query, pointer] of [
    ['', '', '/name'],
    ['  ', '', '/name'],
    [`${long.name}n`, '', '/name'],
    ['two\nlines', '', '/name'],
    ['fine', `${long.query}q`, '/query'],
  ] as const) {
    const { status, body } = await views.save(name, query);
    expect([status, body.errors[0].pointer]).toEqual([422, pointer]);
  }
  expect(namesOf(await views.list())).toEqual([long.name]);
});

test('a user saves at most 50 views per account, even at the same time', async () => {
  const [account, other] = [await stack.account(), await stack.account()];
  const client = await signIn(portal, await createPerson(stack, null));
  const views = viewsOf(client, account);
  const replies = await Promise.all(Array.from({ length: 55 }, (_, n) => views.save(`view ${n}`)));
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(50);
  const [refused] = replies.filter(({ status }) => status !== 201);
  expect([refused?.status, refused?.body.errors[0].code]).toEqual([422, 'too_many_views']);
  expect(namesOf(await views.list())).toHaveLength(50);
  expect((await viewsOf(client, other).save('in another account')).status).toBe(201);
  expect((await (await openViews(account)).save('of another user')).status).toBe(201);
});

test('a view of another user or another account is like an unknown one', async () => {
  const [account, other] = [await stack.account(), await stack.account()];
  const [mine, colleague, stranger] = [await openViews(account), await openViews(account), await openViews(other)];
  const operator = await signIn(portal, await createPerson(stack, null));
  const { body } = await mine.save('Mine');
  for (const views of [colleague, stranger, viewsOf(operator, account)]) {
    expect(namesOf(await views.list())).toEqual([]);
    expect(codeOf(await views.remove(body.view_id))).toEqual([404, 'not_found']);
    expect((await views.save('Mine')).status).toBe(201);
  }
  expect(namesOf(await viewsOf(operator, other).list())).toEqual([]);
  const inAccountOfOthers = viewsOf(await signIn(portal, await createPerson(stack, other.id)), account);
  expect(codeOf(await inAccountOfOthers.list())).toEqual([404, 'account_not_found']);
  expect(namesOf(await mine.list())).toEqual(['Mine']);
});

test('views go with their user', async () => {
  const account = await stack.account();
  const person = await createPerson(stack, account.id);
  expect((await viewsOf(await signIn(portal, person), account).save('Mine')).status).toBe(201);
  const { id } = await knex('users').where({ email: person.email }).first('id');
  const operator = await signIn(portal, await createPerson(stack, null));
  expect((await operator.delete(`/operator/users/${id}`)).status).toBe(204);
  expect(await knex('review_views').where({ user_id: id })).toEqual([]);
});

describe('the target of the review', () => {
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
    expect(codeOf(reply)).toEqual([422, 'invalid_request']);
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
});
