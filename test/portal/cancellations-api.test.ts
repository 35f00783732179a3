import { describe, expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { codeOf } from '../harness/api.ts';
import { hold, whoWait } from '../harness/barriers.ts';
import { below, createPerson, openPortalClient, openShop, type Shop, signIn } from '../harness/people.ts';
import { dispatch, makeReviewOlder } from '../harness/review-list.ts';
import { useStack } from '../harness/use-stack.ts';

const KEY = 'key:test';

const { stack, knex, api, portal, shop } = useStack({ intake: true, worker: true, portal: true, shop: 'each test' });

/** Sends an order. @returns its id. */
async function write(id: string, order: object = {}): Promise<number> {
  const sent = await api.order(shop.account, { source_order_id: id, ...order });
  const { body } = await api.final(shop.account, sent.body.receipt_id);
  expect(body.status).toBe('written');
  return body.order_id;
}

async function cancel(id: string, outcome: string, reason?: string): Promise<void> {
  const { body } = await api.cancel(shop.account, { source_order_id: id, ...(reason && { reason }) });
  expect(body.outcome).toBe(outcome);
}

const review = (orderIds: number[], to: string) =>
  shop.post('/orders/review', { order_ids: orderIds, to, ...(to === 'rejected' && { reason: 'no' }) });

/** Sends an order that is dispatched and that the sender then wants to cancel. @returns its id. */
async function request(id: string, reason?: string): Promise<number> {
  const orderId = await write(id, { customer: { name: `Customer of ${id}` } });
  await review([orderId], 'confirmed');
  await dispatch(knex, orderId);
  await cancel(id, 'requested', reason);
  return orderId;
}

const listed = async (state: string): Promise<number[]> =>
  (await shop.get(`/orders?state=${state}`)).body.orders.map(({ order_id }: { order_id: number }) => order_id);
const show = async (orderId: number) => (await shop.get(`/orders/${orderId}`)).body;
const poll = async (query = '') => (await shop.get(`/orders/updates?after=0${query}`)).body;
const close = (order_ids: number[], client: Pick<Shop, 'post'> = shop) =>
  client.post('/orders/cancellations/close', { order_ids });
const reopen = (order_ids: number[], client: Pick<Shop, 'post'> = shop) =>
  client.post('/orders/cancellations/reopen', { order_ids });
const actionsOf = async (orderId: number) =>
  (await show(orderId)).history.map(({ action, by }: { action: string; by: string }) => [action, by]);

describe('a cancelled order', () => {
  test('is in the list of cancelled orders only, with who cancelled it and when', async () => {
    const [cancelled, other] = [await write('C-1', { customer: { name: 'Aisha' }, total: '20' }), await write('C-2')];
    await cancel('C-1', 'cancelled', 'The customer called');
    expect([await listed('cancelled'), await listed('needs_review')]).toEqual([[cancelled], [other]]);
    for (const query of ['q=aisha', 'sort=total', 'sort=oldest', 'channel=rest', 'written_after=2020-01-01'])
      expect((await shop.get(`/orders?state=cancelled&${query}`)).body.orders).toMatchObject([
        { order_id: cancelled, review_state: 'cancelled', reviewed_by: KEY, reviewed_at: expect.any(String) },
      ]);
    expect((await shop.get('/orders?state=cancelled&q=omar')).body.orders).toEqual([]);
    expect((await shop.get('/orders/ids?state=cancelled')).body.order_ids).toEqual([cancelled]);
    expect((await poll()).counts).toEqual({ needs_review: 1, capped: false, awaiting_payment: false });
    expect(await show(cancelled)).toMatchObject({
      review: { state: 'cancelled', by: KEY, at: expect.any(String), reason: 'The customer called', undo_until: null },
      history: [{ action: 'order_cancelled', by: KEY, reason: 'The customer called' }],
      cancellation: null,
    });
    const file = await shop.post('/orders/export', { order_ids: [cancelled], format: 'json' });
    expect(file.body.orders).toMatchObject([{ review_state: 'cancelled', reviewed_by: KEY }]);
  });

  test('is in the activity log of its key', async () => {
    const orderId = await write('C-1');
    await cancel('C-1', 'cancelled');
    await review([orderId], 'needs_review');
    const { events } = (await shop.get('/audit?q=key:test')).body;
    expect(events).toMatchObject([{ actor: KEY, action: 'order_cancelled', subject: `order:${orderId}` }]);
  });

  test('is a decision for every open page', async () => {
    const orderId = await write('C-1');
    await cancel('C-1', 'cancelled');
    expect((await poll()).changed).toEqual([
      { order_id: orderId, review_state: 'cancelled', by: KEY, at: expect.any(String) },
    ]);
  });

  test('cannot be confirmed or rejected, and the reply has its state', async () => {
    const orderId = await write('C-1');
    await cancel('C-1', 'cancelled');
    for (const to of ['confirmed', 'rejected'])
      expect((await review([orderId], to)).body).toEqual({
        changed: [],
        unchanged: [{ order_id: orderId, review_state: 'cancelled' }],
        undo_until: null,
      });
  });

  test('is not brought back by the undo of its confirmation', async () => {
    const orderId = await write('C-1');
    await review([orderId], 'confirmed');
    await cancel('C-1', 'cancelled');
    expect((await shop.post('/orders/review/undo', { order_ids: [orderId] })).body).toEqual({
      changed: [],
      unchanged: [{ order_id: orderId, review_state: 'cancelled' }],
    });
    expect((await show(orderId)).review.state).toBe('cancelled');
  });

  test('is reopened, alone or with others', async () => {
    const [one, two, rejected] = [await write('C-1'), await write('C-2'), await write('C-3')];
    await cancel('C-1', 'cancelled');
    await cancel('C-2', 'cancelled');
    await review([rejected], 'rejected');
    expect((await review([one], 'needs_review')).body).toEqual({ changed: [one], unchanged: [], undo_until: null });
    expect((await show(one)).review).toMatchObject({ state: 'needs_review', by: shop.person.email, reason: null });
    expect((await review([two, rejected], 'needs_review')).body.changed).toEqual([two, rejected]);
    expect([await listed('cancelled'), await listed('needs_review')]).toEqual([[], [rejected, two, one]]);
    expect((await review([one], 'confirmed')).body.changed).toEqual([one]);
  });

  test('that came after its cancellation is in the list, and the cancellation alone is not', async () => {
    await cancel('C-1', 'held', 'Changed my mind');
    for (const state of ['cancelled', 'needs_review']) expect(await listed(state)).toEqual([]);
    const orderId = await write('C-1');
    expect(await listed('cancelled')).toEqual([orderId]);
    const { order, review: reviewed } = await show(orderId);
    expect(reviewed).toMatchObject({ state: 'cancelled', by: KEY, reason: 'Changed my mind' });
    expect(Date.parse(reviewed.at)).toBeLessThan(Date.parse(order.received_at));
  });
});

describe('a confirmed order that is recalled when it is too late to undo it', () => {
  const REASON = 'The customer called';
  const recall = (orderId: number, body: object = { reason: REASON }, client: Pick<Shop, 'post'> = shop) =>
    client.post(`/orders/${orderId}/recall`, body);

  async function confirm(id: string, order: object = {}): Promise<number> {
    const orderId = await write(id, order);
    await review([orderId], 'confirmed');
    await makeReviewOlder(knex, [orderId], 60);
    await knex('undispatched_orders')
      .where({ order_id: orderId })
      .update({ due_at: knex.raw("now() + interval '1 h'") });
    return orderId;
  }

  test('needs review again if it was not dispatched', async () => {
    const orderId = await confirm('RC-1');
    const { status, body } = await recall(orderId);
    expect([status, body.review.state, body.cancellation]).toEqual([200, 'needs_review', null]);
    expect(await knex('undispatched_orders').where({ order_id: orderId })).toEqual([]);
    expect(await actionsOf(orderId)).toEqual([
      ['order_review_undone', shop.person.email],
      ['order_confirmed', shop.person.email],
    ]);
    expect((await review([orderId], 'confirmed')).body.changed).toEqual([orderId]);
  });

  test('is a cancellation request for the dispatching system and the reviewers if it was dispatched', async () => {
    const orderId = await confirm('RC-2');
    await dispatch(knex, orderId);
    const request = { requested_by: shop.person.email, reason: REASON };
    const recalled = (await recall(orderId)).body;
    expect(recalled).toMatchObject({ review: { state: 'confirmed' }, cancellation: { ...request, closed_at: null } });
    expect((await poll()).cancellation_requests.orders).toMatchObject([{ order_id: orderId, ...request }]);
    await until('it is published', () =>
      knex('dispatch_cancellations')
        .where({ order_id: orderId, ...request })
        .first(),
    );
    expect(await actionsOf(orderId)).toEqual([
      ['order_cancel_requested', shop.person.email],
      ['order_confirmed', shop.person.email],
    ]);
    expect((await recall(orderId)).status).toBe(409);
    await cancel('RC-2', 'requested');
    expect((await close([orderId])).body.changed).toEqual([orderId]);
    expect((await recall(orderId)).status).toBe(409);
  });

  test('is recalled once, by the first of two reviewers', async () => {
    const orderId = await confirm('RC-3');
    await dispatch(knex, orderId);
    const person = await createPerson(stack, shop.account.id);
    const colleague = below(await signIn(portal, person), shop.account.id);
    const lock = await hold(knex, `select from orders where order_id = ${orderId} for update`);
    const both = Promise.all([recall(orderId), recall(orderId, { reason: 'other' }, colleague)]);
    await whoWait(knex, 1, 'transactionid');
    await lock.release();
    expect((await both).map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await knex('cancellation_requests').where({ order_id: orderId })).toHaveLength(1);
  });

  test('needs review again if it is a test, which is never dispatched', async () => {
    const orderId = await confirm('RC-4');
    await knex('orders').where({ order_id: orderId }).update({ is_test: true });
    await knex('undispatched_orders').where({ order_id: orderId }).delete();
    expect((await recall(orderId)).body.review.state).toBe('needs_review');
  });

  test('has a reason, is confirmed and of this account', async () => {
    const orderId = await confirm('RC-5');
    for (const body of [{}, { reason: ' ' }, { reason: 'x'.repeat(501) }])
      expect((await recall(orderId, body)).status).toBe(422);
    const other = await openShop(stack, portal);
    expect((await recall(orderId, undefined, other)).status).toBe(404);
    for (const to of ['needs_review', 'rejected']) {
      await knex('orders').where({ order_id: orderId }).update({ review_state: to });
      expect((await recall(orderId)).status).toBe(409);
    }
    await knex('orders').where({ order_id: orderId }).update({ review_state: 'confirmed', erased_at: knex.fn.now() });
    await dispatch(knex, orderId);
    expect((await recall(orderId)).status).toBe(409);
  });
});

describe('requests to cancel orders that were dispatched', () => {
  test('are in each poll until they are closed, oldest first, and in their orders', async () => {
    const orderIds = [await request('R-1', 'Wrong address'), await request('R-2')];
    const open = [
      {
        order_id: orderIds[0],
        order_number: 'R-1',
        customer_name: 'Customer of R-1',
        customer_phone: null,
        reason: 'Wrong address',
      },
      {
        order_id: orderIds[1],
        order_number: 'R-2',
        customer_name: 'Customer of R-2',
        customer_phone: null,
        reason: null,
      },
    ].map((order) => ({ ...order, requested_by: KEY, requested_at: expect.any(String), ordered_again_at: null }));
    expect((await poll('&state=confirmed')).cancellation_requests).toEqual({ count: 2, capped: false, orders: open });
    expect((await show(orderIds[0] as number)).cancellation).toEqual({
      requested_at: expect.any(String),
      requested_by: KEY,
      reason: 'Wrong address',
      closed_at: null,
      closed_by: null,
      ordered_again_at: null,
    });
    expect((await shop.get('/overview/review')).body.cancellation_requests).toEqual({ count: 2, capped: false });

    expect((await close(orderIds.slice(0, 1))).body).toEqual({ changed: [orderIds[0]], unchanged: [] });
    expect((await poll()).cancellation_requests).toEqual({ count: 1, capped: false, orders: open.slice(1) });
    expect(await show(orderIds[0] as number)).toMatchObject({
      review: { state: 'confirmed' },
      cancellation: { closed_at: expect.any(String), closed_by: shop.person.email },
    });
    expect(await actionsOf(orderIds[0] as number)).toEqual([
      ['cancel_request_closed', shop.person.email],
      ['order_cancel_requested', KEY],
      ['order_confirmed', shop.person.email],
    ]);
    expect((await shop.get('/overview/review')).body.cancellation_requests).toEqual({ count: 1, capped: false });
  });

  test('are closed once, by the first of two reviewers', async () => {
    const orderId = await request('R-1');
    const other = await createPerson(stack, shop.account.id);
    const colleague = below(await signIn(portal, other), shop.account.id);
    const lock = await hold(knex, `select from cancellation_requests where order_id = ${orderId} for update`);
    const both = Promise.all([close([orderId]), close([orderId], colleague)]);
    await whoWait(knex, 1, 'transactionid');
    await lock.release();
    const closed = (await both).map(({ body }) => body.changed);
    expect(closed.toSorted((a, b) => a.length - b.length)).toEqual([[], [orderId]]);
    const { cancellation } = await show(orderId);
    expect((await close([orderId])).body).toEqual({ changed: [], unchanged: [orderId] });
    expect((await show(orderId)).cancellation).toEqual(cancellation);
    expect((await actionsOf(orderId)).filter(([action]: string[]) => action === 'cancel_request_closed')).toHaveLength(
      1,
    );
  });

  test('are closed together, and opened again by any reviewer', async () => {
    const orderIds = [await request('R-1', 'late'), await request('R-2')];
    const other = await createPerson(stack, shop.account.id);
    const colleague = below(await signIn(portal, other), shop.account.id);
    const before = (await poll()).cancellation_requests;
    // An open request stays as it is.
    expect((await reopen(orderIds)).body).toEqual({ changed: [], unchanged: orderIds });
    expect((await close(orderIds)).body).toEqual({ changed: orderIds, unchanged: [] });
    expect((await poll()).cancellation_requests).toEqual({ count: 0, capped: false, orders: [] });
    expect((await reopen(orderIds, colleague)).body).toEqual({ changed: orderIds, unchanged: [] });
    expect((await reopen(orderIds)).body).toEqual({ changed: [], unchanged: orderIds });
    expect((await poll()).cancellation_requests).toEqual(before);
    for (const orderId of orderIds) {
      expect((await show(orderId)).cancellation).toMatchObject({ closed_at: null, closed_by: null });
      expect((await actionsOf(orderId)).slice(0, 2)).toEqual([
        ['cancel_request_reopened', other.email],
        ['cancel_request_closed', shop.person.email],
      ]);
    }
    expect((await poll()).edited).toEqual([]);
    const { edited } = await poll('&state=confirmed');
    expect(edited.map(({ order_id }: { order_id: number }) => order_id)).toEqual(orderIds.toReversed());
  });

  test('are listed up to 20, and all are counted', async () => {
    const orderId = await request('R-0');
    await knex.raw(
      `with written as (
         insert into orders (account_id, source_order_id, order_number, channel, receipt_id, items, warnings, severity, currency, review_state,
                             received_at)
         select :account, 'many-' || n, 'many', 'rest', gen_random_uuid(), '[]', '[]', 'blocks', 'AED', 'confirmed', now()
         from generate_series(1, 1000) as n returning order_id
       )
       insert into cancellation_requests (account_id, order_id, requested_by)
       select :account, order_id, 'key:test' from written`,
      { account: shop.account.id },
    );
    const { orders, ...counts } = (await poll()).cancellation_requests;
    expect(counts).toEqual({ count: 1000, capped: true });
    expect(orders).toHaveLength(20);
    expect(orders[0].order_id).toBe(orderId);
  });

  test('of an order without one, of another account, or invalid are neither closed nor opened again', async () => {
    const [orderId, closed] = [await request('R-1'), await request('R-3')];
    const without = await write('R-2');
    await close([closed]);
    for (const send of [close, reopen])
      expect((await send([without])).body).toEqual({ changed: [], unchanged: [without] });
    const other = await openShop(stack, portal);
    expect((await other.get('/orders/updates?after=0')).body.cancellation_requests).toEqual({
      count: 0,
      capped: false,
      orders: [],
    });
    const viewer = below(await signIn(portal, await createPerson(stack, shop.account.id, 'viewer')), shop.account.id);
    for (const [send, id] of [
      [close, orderId],
      [reopen, closed],
    ] as const) {
      const foreign = await send([id], other);
      expect(codeOf(foreign)).toEqual([404, 'order_not_found']);
      const unknown = await send([id, 9_000_000]);
      expect(codeOf(unknown)).toEqual([404, 'order_not_found']);
      const intruder = await send([id], below(other.client, shop.account.id));
      expect(codeOf(intruder)).toEqual([404, 'account_not_found']);
      const stranger = await send([id], below(openPortalClient(portal), shop.account.id));
      expect(stranger.status).toBe(401);
      expect((await send([id], viewer)).status).toBe(403);
      for (const ids of [[], ['1'], [0]]) expect((await send(ids as number[])).status).toBe(422);
    }
    expect((await show(orderId)).cancellation.closed_at).toBeNull();
    expect((await show(closed)).cancellation.closed_by).toBe(shop.person.email);
  });
});
