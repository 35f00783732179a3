import { describe, expect, test } from '@jest/globals';
import { codeOf } from '../harness/api.ts';
import { erase } from '../harness/erasure.ts';
import { createPerson, openShop, signIn } from '../harness/people.ts';
import { insertOrder } from '../harness/review-list.ts';
import { listChanges } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal, api, shop, colleague } = useStack({
  intake: true,
  worker: true,
  portal: true,
  shop: true,
  colleague: true,
});

const at = (path: string) => `/accounts/${shop.account.id}${path}`;
const insert = (columns: Record<string, unknown> = {}) => insertOrder(knex, shop.account.id, columns);
const snooze = (id: number, body: object = { minutes: 30 }) => shop.client.put(at(`/orders/${id}/snooze`), body);
const end = (id: number) => shop.client.delete(at(`/orders/${id}/snooze`));
const poll = async () => (await colleague.get('/orders/updates?after=0')).body;
const snoozedIds = async () => (await poll()).snoozed.map(({ order_id }: { order_id: number }) => order_id);
const listed = async (query = '') =>
  (await colleague.get(`/orders?limit=200${query}`)).body.orders.map(({ order_id }: { order_id: number }) => order_id);
const markOf = async (id: number) => (await colleague.get(`/orders/${id}`)).body.order.snooze;
/** Moves the time of a snooze, as if it were over. */
const pass = (id: number, ago = '1 second') =>
  knex('order_snoozes')
    .where({ order_id: id })
    .update({ until: knex.raw('now() - ?::interval', [ago]) });
const isBack = async (id: number) => [(await listed()).includes(id), (await snoozedIds()).includes(id)];

test('a snoozed order leaves every list of orders to review, and needs review as before', async () => {
  const id = await insert({ source_order_id: 'zz-snoozed', customer_name: 'Mona' });
  const { counts } = await poll();
  const { status, body } = await snooze(id, { minutes: 30, reason: 'Called, no answer' });
  const mark = { until: expect.any(String), by: shop.person.email, reason: 'Called, no answer' };
  expect([status, body.order.snooze, body.review.state]).toEqual([200, mark, 'needs_review']);
  for (const query of ['', '&sort=oldest', '&sort=total', '&severity=blocks', '&similar=yes'])
    expect([query, (await listed(query)).includes(id)]).toEqual([query, false]);
  expect((await colleague.get('/orders/ids')).body.order_ids).not.toContain(id);
  const update = await poll();
  expect(update.new.orders.map(({ order_id }: { order_id: number }) => order_id)).not.toContain(id);
  expect(update.snoozed).toEqual([
    { order_id: id, order_number: 'zz-snoozed', customer_name: 'Mona', until: mark.until },
  ]);
  expect(update.counts).toEqual(counts);
  // The customer may call.
  expect(await listed('&q=zz-snoozed')).toEqual([id]);
  const minutes = (Date.parse(body.order.snooze.until) - Date.now()) / 60_000;
  expect(Math.round(minutes)).toBe(30);
  const [action, subject] = ['order_snoozed', `order:${id}`];
  expect(await listChanges(knex, shop.account.id, 1)).toEqual([
    { actor: shop.person.email, action, subject, details: { snooze_minutes: 30 } },
  ]);
});

test('it is back when its time is over, with a mark for a day', async () => {
  const id = await insert();
  await snooze(id);
  expect(await isBack(id)).toEqual([false, true]);
  await pass(id);
  expect(await isBack(id)).toEqual([true, false]);
  expect(await markOf(id)).toMatchObject({ by: shop.person.email });
  await pass(id, '25 hours');
  expect(await markOf(id)).toBeNull();
  // The first poll of a page.
  await poll();
  expect(await knex('order_snoozes').where({ order_id: id })).toEqual([]);
});

test('it can be snoozed for longer, and be taken back by anybody; repeating that changes nothing', async () => {
  const id = await insert();
  await snooze(id, { minutes: 10 });
  const first = (await markOf(id)).until;
  await snooze(id, { minutes: 60 });
  expect(Date.parse((await markOf(id)).until)).toBeGreaterThan(Date.parse(first));
  for (let time = 0; time < 2; time += 1) {
    expect((await colleague.get(`/orders/${id}`)).status).toBe(200);
    expect((await end(id)).status).toBe(200);
  }
  expect(await isBack(id)).toEqual([true, false]);
  const actions = (await listChanges(knex, shop.account.id, 3)).map(({ action }) => action);
  expect(actions).toEqual(['order_snooze_ended', 'order_snoozed', 'order_snoozed']);
});

describe('what happens outside brings a snoozed order back at once', () => {
  const received = async (source_order_id: string) => {
    const { order_id } = await api.process(shop.account, { source_order_id, total: 5 });
    await snooze(order_id);
    expect(await isBack(order_id)).toEqual([false, true]);
    return order_id as number;
  };

  test('a changed delivery', async () => {
    const id = await received('changed');
    await api.process(shop.account, { source_order_id: 'changed', total: 5 });
    expect(await isBack(id)).toEqual([false, true]);
    await api.process(shop.account, { source_order_id: 'changed', total: 6 });
    expect(await isBack(id)).toEqual([true, false]);
  });

  test('a cancellation, after which it is reopened', async () => {
    const id = await received('cancelled');
    await api.cancel(shop.account, { source_order_id: 'cancelled' });
    expect(await isBack(id)).toEqual([false, false]);
    expect((await colleague.get(`/orders/${id}`)).body.review.state).toBe('cancelled');
    await shop.post('/orders/review', { order_ids: [id], to: 'needs_review' });
    expect(await isBack(id)).toEqual([true, false]);
  });

  test('a decision, after which it is undone', async () => {
    const id = await received('decided');
    await colleague.post('/orders/review', { order_ids: [id], to: 'confirmed' });
    await colleague.post('/orders/review/undo', { order_ids: [id] });
    expect(await isBack(id)).toEqual([true, false]);
  });
});

test.each([{}, { minutes: 0 }, { minutes: 2881 }, { minutes: '10' }, { minutes: 10, reason: 'x'.repeat(201) }])(
  'the snooze %j is rejected',
  async (body) => {
    const { status, body: problem } = await snooze(await insert(), body);
    expect([status, problem.code]).toEqual([422, 'invalid_request']);
  },
);

test.each(['confirmed', 'rejected', 'cancelled', 'awaiting_payment'])(
  'an order that is %s cannot be snoozed',
  async (review_state) => {
    const { status, body } = await snooze(await insert({ review_state }));
    expect([status, body.code]).toEqual([409, 'conflicting_state']);
  },
);

test('an order of another account is neither snoozed nor taken back, and a viewer does neither', async () => {
  const id = await insert();
  const { client, ...other } = await openShop(stack, portal);
  const viewer = await signIn(portal, await createPerson(stack, shop.account.id, 'viewer'));
  await snooze(id);
  const replies = [
    await client.put(`/accounts/${other.account.id}/orders/${id}/snooze`, { minutes: 10 }),
    await client.delete(`/accounts/${other.account.id}/orders/${id}/snooze`),
    await client.put(at(`/orders/${id}/snooze`), { minutes: 10 }),
    await viewer.put(at(`/orders/${id}/snooze`), { minutes: 10 }),
    await viewer.delete(at(`/orders/${id}/snooze`)),
  ];
  expect(replies.map(codeOf)).toEqual([
    [404, 'order_not_found'],
    [404, 'order_not_found'],
    [404, 'account_not_found'],
    [403, 'not_permitted'],
    [403, 'not_permitted'],
  ]);
  expect((await other.get('/orders/updates?after=0')).body.snoozed).toEqual([]);
  expect(await isBack(id)).toEqual([false, true]);
});

test('at most 200 orders are snoozed at a time', async () => {
  const ids = await Promise.all(Array.from({ length: 201 }, () => insert()));
  const [last = 0, ...others] = ids;
  await knex('order_snoozes').where({ account_id: shop.account.id }).delete();
  await knex('order_snoozes').insert(
    others.map((order_id) => ({
      account_id: shop.account.id,
      order_id,
      until: knex.raw("now() + interval '1 hour'"),
      by: colleague.person.email,
    })),
  );
  const { status, body } = await snooze(last);
  expect([status, body.errors[0].code]).toEqual([422, 'too_many_snoozed']);
  expect((await snooze(others[0] as number)).status).toBe(200);
  await end(others[0] as number);
  expect((await snooze(last)).status).toBe(200);
});

test('it is deleted with the customer, who is found in its reason', async () => {
  const id = await insert();
  await knex('order_snoozes').where({ account_id: shop.account.id }).delete();
  await snooze(id, { minutes: 10, reason: 'Her other number is 050 827 7163' });
  expect(await erase(stack, shop.account, '--phone', '050 827 7163')).toMatchObject({ orders: 1 });
  expect(await knex('order_snoozes').where({ order_id: id })).toEqual([]);
  expect(codeOf(await snooze(id))).toEqual([409, 'conflicting_state']);
});
