import { expect, test } from '@jest/globals';
import { verifyChain } from '@orders/cli/audit/audit-chain.ts';
import { setSuspended } from '@orders/database/accounts/accounts.ts';
import { inviteUser } from '@orders/database/users/invite-user.ts';
import { until } from '@orders/test-services/until.ts';
import { emptyTestAccounts } from '@orders/worker/maintenance/empty-test-accounts.ts';
import type { TestAccount } from '../harness/api.ts';
import { below, createPerson, openShop, type Shop, signIn } from '../harness/people.ts';
import { dispatch } from '../harness/review-list.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, portal, shop } = useStack({
  intake: true,
  worker: true,
  portal: true,
  shop: 'each test',
});

/** Opens test mode and makes a key there. */
async function openTests({ client, post }: Pick<Shop, 'client' | 'post'>): Promise<TestAccount> {
  const { account_id: id } = (await post('/test-account')).body;
  const { body } = await client.post(`/accounts/${id}/keys`, { name: 'tests' });
  return { id, key: body.key, secret: null };
}

const countOf = async (table: string, accountId: number) =>
  Number((await knex(table).where({ account_id: accountId }).count())[0]?.count);

test('test mode has an account of its own, which is made once, and whose members are those of the account', async () => {
  const opened = await Promise.all([shop.post('/test-account'), shop.post('/test-account')]);
  expect(opened.map(({ status }) => status).sort()).toEqual([200, 201]);
  const [{ body }] = opened;
  expect(opened[1]?.body).toEqual(body);
  expect(body).toMatchObject({ test_of: shop.account.id });
  const id = body.account_id;
  expect((await shop.client.post(`/accounts/${id}/test-account`)).body).toEqual(body);
  const { accounts } = (await shop.client.get('/session')).body;
  expect(accounts).toMatchObject([
    { account_id: shop.account.id, test_of: null, permissions: ['read', 'review', 'develop', 'manage'] },
    { account_id: id, test_of: shop.account.id, permissions: ['read', 'review', 'develop'], suspended: false },
  ]);
  expect((await shop.client.get(`/accounts/${id}/users`)).status).toBe(403);
  const invited = { email: 'new@example.test', role: 'account_holder', accountId: id } as const;
  expect(await inviteUser(db, invited, 'an operator', 60_000)).toMatchObject({ accountId: shop.account.id });
  const reviewer = await signIn(portal, await createPerson(stack, shop.account.id, 'reviewer'));
  expect((await reviewer.get(`/accounts/${id}/orders`)).status).toBe(200);
  expect((await reviewer.post(`/accounts/${shop.account.id}/test-account`)).status).toBe(403);
  const stranger = await openShop(stack, portal);
  expect((await stranger.client.get(`/accounts/${id}/orders`)).status).toBe(404);
  expect((await stranger.client.post(`/accounts/${shop.account.id}/test-account`)).status).toBe(404);
  const audited = await knex('audit_events').where({ account_id: shop.account.id, action: 'test_account_created' });
  expect(audited).toMatchObject([{ actor: shop.person.email, subject: `account:${id}` }]);
});

test('in test mode a developer needs no operator: webhooks are signed and events recorded from the start, with the demands of the account', async () => {
  const demands = { signed_only: true, rate_unlimited: true, review_target_minutes: 45, hold_changed_deliveries: true };
  await knex('accounts').where({ account_id: shop.account.id }).update(demands);
  const client = await signIn(portal, await createPerson(stack, shop.account.id, 'developer'));
  const tests = await openTests({ client, ...below(client, shop.account.id) });
  expect(await knex('accounts').where({ account_id: tests.id }).first()).toMatchObject(demands);
  const at = below(client, tests.id);
  const secret = async () => (await at.post('/signing/reveal')).body.secrets?.[0].secret as string;
  const signed = await api.webhook({ ...tests, secret: await secret() }, { source_order_id: 'W-1' });
  expect(signed.status).toBe(202);
  await until('the event can be read', async () => (await api.events(tests)).body.events.length === 1);
  const audited = await knex('audit_events').where({ account_id: tests.id }).orderBy('event_id').pluck('action');
  expect(audited.slice(0, 2)).toEqual(['signing_enabled', 'events_enabled']);

  // Opened again, it gets a secret if it lost it; what somebody disabled stays so.
  const kept = await secret();
  await shop.post('/test-account');
  expect(await secret()).toBe(kept);
  await knex('signing_secrets').where({ account_id: tests.id }).delete();
  expect((await client.put(`/accounts/${tests.id}/events`, { is_enabled: false })).status).toBe(200);
  await shop.post('/test-account');
  expect(await secret()).toMatch(/^oss_/);
  expect((await at.get('/events')).body).toMatchObject({ is_enabled: false });
});

test('an order in test mode is reviewed and cancelled as any other, and dispatching sees nothing of it', async () => {
  const tests = await openTests(shop);
  expect(tests.key).toMatch(/^oik_test_[0-9A-Za-z]{49}$/);
  const order = { source_order_id: 'same-id', emirate: 'Dubai' };
  const [test_, live] = [await api.process(tests, order), await api.process(shop.account, order)];
  expect([test_.status, live.status]).toEqual(['written', 'written']);
  const ids = [test_.order_id, live.order_id];
  const at = (account: TestAccount) => below(shop.client, account.id);
  expect((await at(tests).get('/orders')).body.orders).toMatchObject([{ order_id: ids[0] }]);
  expect((await at(shop.account).get('/orders')).body.orders).toMatchObject([{ order_id: ids[1] }]);
  for (const [account, id] of [
    [tests, ids[0]],
    [shop.account, ids[1]],
  ] as const) {
    expect((await at(account).post('/orders/review', { order_ids: [id], to: 'confirmed' })).status).toBe(200);
    await dispatch(knex, id);
    expect((await api.cancel(account, { source_order_id: 'same-id' })).body).toMatchObject({ outcome: 'requested' });
  }
  const seen = async (view: string) => (await knex(view).whereIn('order_id', ids)).map(({ order_id }) => order_id);
  expect(await seen('dispatchable_orders')).toEqual([ids[1]]);
  await until('both requests have their positions', async () => {
    const logged = await knex('dispatch_log').whereIn('order_id', ids).where({ is_cancellation: true });
    return logged.length === 2;
  });
  expect(await seen('dispatch_cancellations')).toEqual([ids[1]]);
});

test('what a test account received is removed once it is old, so that the same ids can be sent again; other accounts keep theirs', async () => {
  const tests = await openTests(shop);
  const send = (account: TestAccount) => api.process(account, { source_order_id: 'again', emirate: 'Dubai' });
  const first = await send(tests);
  expect((await send(tests)).status).toBe('duplicate');
  await send(shop.account);
  const at = below(shop.client, tests.id);
  await at.post(`/orders/${first.order_id}/notes`, { text: 'a note' });
  await at.post('/orders/review', { order_ids: [first.order_id], to: 'rejected', reason: 'Aisha did not answer' });
  await api.cancel(tests, { source_order_id: 'held', reason: 'Aisha called' });
  const reasons = () =>
    knex('audit_events').where({ account_id: tests.id }).whereRaw("details ->> 'reason' is not null");
  expect(await reasons()).toHaveLength(1);
  const tables = [
    'orders',
    'order_keys',
    'order_notes',
    'order_words',
    'changed_deliveries',
    'receipts',
    'receipt_payloads',
  ];
  await emptyTestAccounts(db);
  expect(await countOf('receipts', tests.id)).toBe(2);
  await until('audit events are chained', async () => (await knex('unchained_audit_events')).length === 0);
  await emptyTestAccounts(db, 0);
  expect(await verifyChain(db, { from: 1, onProgress: () => {} })).not.toHaveProperty('fault');
  for (const table of tables) expect([table, await countOf(table, tests.id)]).toEqual([table, 0]);
  expect(await reasons()).toEqual([]);
  expect(await countOf('receipts', shop.account.id)).toBe(1);
  expect(await countOf('orders', shop.account.id)).toBe(1);
  expect((await api.status(tests, first.receipt_id)).status).toBe(404);
  expect((await send(tests)).status).toBe('written');
});

test('a suspended account is suspended in test mode too', async () => {
  const tests = await openTests(shop);
  await setSuspended(db, shop.account.id, true);
  const state = async (id: number) => (await shop.client.get(`/accounts/${id}`)).body.suspended;
  expect([await state(shop.account.id), await state(tests.id)]).toEqual([true, true]);
  await setSuspended(db, shop.account.id, false);
  expect(await state(tests.id)).toBe(false);
});
