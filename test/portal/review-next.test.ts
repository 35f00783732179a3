import { describe, expect, test } from '@jest/globals';
import { hold, whoWait } from '../harness/barriers.ts';
import { erase } from '../harness/erasure.ts';
import { below, createPerson, openShop, type ShopClient, signIn } from '../harness/people.ts';
import { insertOrder } from '../harness/review-list.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal, shop, colleague } = useStack({ portal: true, shop: 'each test', colleague: 'each test' });

const insert = (columns: Record<string, unknown> = {}) => insertOrder(knex, shop.account.id, columns);
const next = async (client: ShopClient, from: { after?: number; open?: number } = {}) =>
  (await client.post('/orders/next', from)).body;
const is = (order_id: number) => ({ order_id, all_taken: false });
const NONE = { order_id: null, all_taken: false };
const ALL_TAKEN = { order_id: null, all_taken: true };
const poll = async (client: ShopClient, open?: number) =>
  (await client.get(`/orders/updates?after=${Number.MAX_SAFE_INTEGER}${open ? `&open=${open}` : ''}`)).body;
/** Lets ten seconds pass for whoever looks at the list, or for the orders given to them. */
const age = (column: 'seen_at' | 'claimed_at') =>
  knex('review_presence').update({ [column]: knex.raw("?? - interval '10 seconds'", [column]) });

describe('the next order', () => {
  test('is the oldest one that needs review; two people who ask at the same moment get two', async () => {
    await insert({ review_state: 'confirmed' });
    const ids = [await insert(), await insert(), await insert()];
    // The first one has chosen and waits to store it.
    for (const client of [shop, colleague]) await poll(client);
    const held = await hold(knex, 'select from review_presence for update');
    const both = [next(shop), next(colleague)];
    await whoWait(knex, 1, 'transactionid');
    await whoWait(knex, 1, 'advisory').finally(held.release);
    const given = (await Promise.all(both)).map(({ order_id }) => order_id);
    expect(given.toSorted()).toEqual(ids.slice(0, 2));
  });

  test('is the same when the request is repeated, and the order after it when it is passed over', async () => {
    const [first, other, last] = [await insert(), await insert(), await insert()];
    for (const _ of [1, 2]) expect(await next(shop)).toEqual(is(first));
    for (const _ of [1, 2]) expect(await next(shop, { after: first, open: first })).toEqual(is(other));
    expect(await next(shop, { after: other, open: other })).toEqual(is(last));
    expect(await next(shop, { after: last, open: last })).toEqual(is(first));
    await shop.post('/orders/review', { order_ids: [first, other], to: 'confirmed' });
    expect(await next(shop, { after: last, open: last })).toEqual(NONE);
    expect(await next(shop, { after: last })).toEqual(is(last));
  });

  test('is none that is snoozed', async () => {
    const [first, other] = [await insert(), await insert()];
    await shop.client.put(`${shop.base}/orders/${first}/snooze`, { minutes: 10 });
    expect(await next(shop)).toEqual(is(other));
    await shop.client.put(`${shop.base}/orders/${other}/snooze`, { minutes: 10 });
    expect(await next(shop)).toEqual(NONE);
    await shop.client.delete(`${shop.base}/orders/${first}/snooze`);
    expect(await next(shop)).toEqual(is(first));
  });

  test('is none that somebody else has open, which counts for ten seconds', async () => {
    const [first, other] = [await insert(), await insert()];
    await poll(colleague, first);
    expect(await next(shop)).toEqual(is(other));
    expect(await next(colleague, { open: first })).toEqual(ALL_TAKEN);
    expect(await next(shop, { open: other })).toEqual(ALL_TAKEN);
    await age('seen_at');
    expect(await next(shop)).toEqual(is(first));
  });

  test('stays theirs when a poll from before says that they have another one open, and is theirs for the others', async () => {
    const [first, other] = [await insert(), await insert()];
    expect(await next(shop)).toEqual(is(first));
    expect((await poll(colleague)).viewers).toEqual([{ name: shop.person.name, order_id: first }]);
    await poll(shop);
    expect(await next(colleague)).toEqual(is(other));
    expect((await poll(shop)).viewers).toEqual([{ name: colleague.person.name, order_id: other }]);
    await age('claimed_at');
    expect(await next(colleague)).toEqual(is(first));
  });

  test('needs a reviewer of the account', async () => {
    await insert();
    const viewer = below(await signIn(portal, await createPerson(stack, shop.account.id, 'viewer')), shop.account.id);
    expect((await viewer.post('/orders/next', {})).status).toBe(403);
    expect(await next(await openShop(stack, portal))).toEqual(NONE);
    expect((await shop.post('/orders/next', { after: 'x' })).status).toBe(422);
  });
});

describe('the earlier orders of a customer', () => {
  const phone = '+971501234567';
  const of = (more: Record<string, unknown> = {}) => insert({ customer_phone: phone, total: '45.00', ...more });
  const earlierOf = async (id: number) => (await shop.get(`/orders/${id}`)).body.earlier;

  test('are those of the same phone number that need no review, the newest five of them with their states and reasons', async () => {
    const rejected = await of({ review_state: 'rejected', review_reason: 'Nobody at home', source_order_id: 'E-1' });
    for (let n = 0; n < 4; n += 1) await of({ review_state: 'confirmed' });
    const cancelled = await of({ review_state: 'cancelled' });
    await of();
    await insert({ customer_phone: '+971507654321', review_state: 'confirmed' });
    await insertOrder(knex, (await openShop(stack, portal)).account.id, {
      customer_phone: phone,
      review_state: 'confirmed',
    });
    const id = await of();
    await of({ review_state: 'confirmed' });
    const earlier = await earlierOf(id);
    expect(earlier).toMatchObject({ count: 6, is_more: false, rejected: 1 });
    expect(earlier.newest).toHaveLength(5);
    expect(earlier.newest[0]).toMatchObject({ order_id: cancelled, review_state: 'cancelled' });
    expect(await earlierOf(earlier.newest[4].order_id)).toEqual({
      count: 1,
      is_more: false,
      rejected: 1,
      newest: [
        {
          order_id: rejected,
          order_number: 'E-1',
          total: '45.00',
          currency: 'AED',
          review_state: 'rejected',
          reason: 'Nobody at home',
          received_at: expect.any(String),
        },
      ],
    });
    expect(await earlierOf(rejected)).toBeNull();
  });

  test('are counted up to 20', async () => {
    for (let n = 0; n < 20; n += 1) await of({ review_state: 'rejected' });
    expect(await earlierOf(await of())).toMatchObject({ count: 20, is_more: false, rejected: 20 });
    await of({ review_state: 'confirmed' });
    expect(await earlierOf(await of())).toMatchObject({ count: 20, is_more: true, rejected: 19 });
  });

  test('are none without a phone number that can be called, or after the erasure', async () => {
    for (const customer_phone of [null, 'n/a'])
      for (const review_state of ['confirmed', 'needs_review']) {
        const id = await insert({ customer_phone, review_state });
        expect(await earlierOf(id)).toBeNull();
      }
    await of({ review_state: 'confirmed' });
    const id = await of();
    expect(await earlierOf(id)).toMatchObject({ count: 1 });
    await erase(stack, shop.account, '--phone', phone);
    expect(await earlierOf(id)).toBeNull();
  });
});
