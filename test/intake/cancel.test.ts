import { describe, expect, test } from '@jest/globals';
import { readOrders } from '@orders/cli/list-orders.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { until } from '@orders/test-services/until.ts';
import { codeOf } from '../harness/api.ts';
import { hold } from '../harness/barriers.ts';
import { dispatch, extendUndo } from '../harness/review-list.ts';
import { useStack } from '../harness/use-stack.ts';

const BY = 'reviewer@shop.example';

const { stack, knex, db, intake, api, worker, account } = useStack({ intake: true, worker: true, account: true });

let orders = 0;
const newId = (name: string) => `${name}-${++orders}`;

/** Sends an order and waits until it is written. @returns its `source_order_id` and `order_id`. */
async function write(name: string, by = account): Promise<{ id: string; orderId: number; receiptId: string }> {
  const id = newId(name);
  const { receipt_id, order_id } = await send(id, {}, by);
  return { id, orderId: order_id, receiptId: receipt_id };
}

async function send(id: string, order: object = {}, by = account) {
  const accepted = await api.order(by, { source_order_id: id, ...order });
  expect(accepted.status).toBe(202);
  return (await api.final(by, accepted.body.receipt_id)).body;
}

async function cancel(body: unknown, by = account) {
  const reply = await api.cancel(by, body);
  expect(reply.status).toBe(200);
  return reply.body;
}

const review = (orderId: number, to: 'confirmed' | 'rejected' | 'needs_review') =>
  reviewOrders(db, {
    accountId: account.id,
    orderIds: [orderId],
    to,
    by: BY,
    reason: to === 'rejected' ? 'no' : null,
  });
const rowOf = (orderId: number) => knex('orders').where({ order_id: orderId }).first();
/** In its undo time, however slow the test is. */
const confirmJustNow = async (orderId: number) => {
  await review(orderId, 'confirmed');
  await extendUndo(knex, [orderId]);
};
const confirmLongAgo = async (orderId: number) => {
  await review(orderId, 'confirmed');
  await dispatch(knex, orderId);
};
const actionsOn = (orderId: number) =>
  knex('audit_events')
    .where({ subject: `order:${orderId}` })
    .orderBy('event_id')
    .pluck('action');
const isShown = async (view: string, orderId: number) => (await knex(view).where({ order_id: orderId })).length > 0;

describe('an order that nobody has dispatched is cancelled', () => {
  test.each(['needs_review', 'rejected', 'confirmed'] as const)('if it is %s', async (state) => {
    const { id, orderId, receiptId } = await write(state);
    if (state === 'rejected') await review(orderId, state);
    if (state === 'confirmed') await confirmJustNow(orderId);
    expect(await cancel({ source_order_id: id, reason: ' The customer called ' })).toEqual({
      outcome: 'cancelled',
      source_order_id: id,
      order_id: orderId,
    });
    expect(await rowOf(orderId)).toMatchObject({
      review_state: 'cancelled',
      reviewed_by: 'key:test',
      review_reason: 'The customer called',
    });
    const [event] = await knex('audit_events').where({ subject: `order:${orderId}`, action: 'order_cancelled' });
    expect(event).toMatchObject({
      account_id: account.id,
      actor: 'key:test',
      details: { reason: 'The customer called', ...(state !== 'needs_review' && { was: state }) },
    });
    expect((await api.status(account, receiptId)).body).toMatchObject({
      status: 'written',
      order_id: orderId,
      order_state: 'cancelled',
    });
  });

  test('and again with the same outcome, which changes nothing', async () => {
    const { id, orderId } = await write('again');
    const first = await cancel({ source_order_id: id, reason: 'first' });
    const before = await rowOf(orderId);
    expect(await cancel({ source_order_id: id, reason: 'second' })).toEqual(first);
    expect(await rowOf(orderId)).toEqual(before);
    expect(await actionsOn(orderId)).toEqual(['order_cancelled']);
  });

  test('and cannot be confirmed or rejected, only reopened', async () => {
    const { id, orderId } = await write('closed');
    await cancel({ source_order_id: id });
    for (const to of ['confirmed', 'rejected'] as const)
      expect(await review(orderId, to)).toMatchObject({ changed: [], unchanged: [{ review_state: 'cancelled' }] });
    expect(await review(orderId, 'needs_review')).toMatchObject({ changed: [orderId] });
    expect((await rowOf(orderId)).review_state).toBe('needs_review');
    expect(await cancel({ source_order_id: id })).toMatchObject({ outcome: 'cancelled', order_id: orderId });
  });

  test('by a signed webhook', async () => {
    const { id, orderId } = await write('signed');
    const { status, body } = await api.webhookCancel(account, { source_order_id: id });
    expect([status, body]).toEqual([200, { outcome: 'cancelled', source_order_id: id, order_id: orderId }]);
  });

  test('and a changed delivery of it stays cancelled and shows its changes', async () => {
    const { id, orderId } = await write('resent');
    await cancel({ source_order_id: id });
    const resent = await send(id, { total: 12 });
    expect(resent).toMatchObject({
      status: 'duplicate',
      order_state: 'cancelled',
      changes: [{ pointer: '/total', from: null, to: '12' }],
    });
    expect((await rowOf(orderId)).review_state).toBe('cancelled');
  });
});

describe('a confirmed order that dispatching can have seen', () => {
  test('gets a request, which the view shows with its reason', async () => {
    const { id, orderId } = await write('dispatched');
    await confirmLongAgo(orderId);
    const requested = await cancel({ source_order_id: id, reason: 'Wrong address' });
    expect(requested).toEqual({ outcome: 'requested', source_order_id: id, order_id: orderId });
    expect((await rowOf(orderId)).review_state).toBe('confirmed');
    const shown = await until('the request is shown', async () =>
      knex('dispatch_cancellations').where({ order_id: orderId }).first(),
    );
    expect(shown).toMatchObject({
      account_id: account.id,
      source_order_id: id,
      reason: 'Wrong address',
      requested_by: 'key:test',
      requested_at: expect.any(Date),
    });
    expect(await knex('dispatchable_orders').where({ order_id: orderId }).first()).toMatchObject({
      cancellation_requested_at: shown.requested_at,
    });
    expect(await cancel({ source_order_id: id, reason: 'again' })).toEqual(requested);
    expect(await actionsOn(orderId)).toEqual(['order_confirmed', 'order_cancel_requested']);
  });

  test('gets none as long as dispatching has not seen it, however long ago it was confirmed', async () => {
    const { id, orderId } = await write('not dispatched');
    await confirmJustNow(orderId);
    await knex('orders')
      .where({ order_id: orderId })
      .update({ reviewed_at: new Date(0) });
    expect(await cancel({ source_order_id: id })).toMatchObject({ outcome: 'cancelled' });
  });

  test('gets a request at a position behind its order', async () => {
    const { id, orderId } = await write('behind');
    await confirmLongAgo(orderId);
    expect(await cancel({ source_order_id: id })).toMatchObject({ outcome: 'requested' });
    const position = (view: string) => async () => (await knex(view).where({ order_id: orderId }).first())?.position;
    const ofRequest = await until('the request is shown', position('dispatch_cancellations'));
    expect(ofRequest).toBeGreaterThan(await position('dispatchable_orders')());
  });

  test('is not shown to dispatching at all if it was cancelled in its undo time', async () => {
    const { id, orderId } = await write('undo');
    await confirmJustNow(orderId);
    expect(await cancel({ source_order_id: id })).toMatchObject({ outcome: 'cancelled' });
    expect(await knex('undispatched_orders').where({ order_id: orderId })).toEqual([]);
    expect(await isShown('dispatchable_orders', orderId)).toBe(false);
    expect(await isShown('dispatch_cancellations', orderId)).toBe(false);
  });
});

describe('a cancellation of an order that has not arrived is held', () => {
  test('and the order is written as cancelled when it arrives', async () => {
    const id = newId('early');
    expect(await cancel({ source_order_id: id, reason: 'Changed my mind' })).toEqual({
      outcome: 'held',
      source_order_id: id,
      order_id: null,
    });
    expect(await cancel({ source_order_id: id })).toMatchObject({ outcome: 'held', order_id: null });
    const order = { customer: { name: 'Aisha' }, items: [{ name: 'Bread' }], total: '4.50' };
    expect((await api.preview(account, { source_order_id: id, ...order })).body).toMatchObject({
      duplicate_of: null,
      cancellation_held: true,
    });
    const written = await send(id, order);
    expect(written).toMatchObject({ status: 'written', attempts: 1, order_state: 'cancelled', error: null });
    expect(await rowOf(written.order_id)).toMatchObject({
      source_order_id: id,
      receipt_id: written.receipt_id,
      customer_name: 'Aisha',
      items: [{ name: 'Bread', quantity: null, sku: null }],
      total: '4.50',
      review_state: 'cancelled',
      reviewed_by: 'key:test',
      review_reason: 'Changed my mind',
    });
    expect(await actionsOn(written.order_id)).toEqual(['order_cancelled']);
    expect(await knex('orders').where({ account_id: account.id, source_order_id: id })).toHaveLength(1);
    expect(await cancel({ source_order_id: id })).toMatchObject({ outcome: 'cancelled', order_id: written.order_id });
    await until('no outbox row is left', async () => (await knex('outbox')).length === 0);
    expect((await api.preview(account, { source_order_id: id })).body).toMatchObject({
      duplicate_of: { order_id: written.order_id },
      cancellation_held: false,
    });
  });

  test('and two receipts of the order become one cancelled order and a duplicate, with other orders of the batch', async () => {
    const [held, other] = [newId('pair'), newId('neighbor')];
    await cancel({ source_order_id: held });
    const { body } = await api.batch(account, [
      { source_order_id: held },
      { source_order_id: other },
      { source_order_id: held, total: 5 },
    ]);
    const states = [];
    for (const { receipt_id } of body.results) {
      const { status, order_state } = (await api.final(account, receipt_id)).body;
      states.push([status, order_state]);
    }
    expect(states).toEqual([
      ['written', 'cancelled'],
      ['written', 'needs_review'],
      ['duplicate', 'cancelled'],
    ]);
  });

  test('and is no order for anybody', async () => {
    const by = await stack.account();
    const id = newId('hidden');
    await cancel({ source_order_id: id }, by);
    expect((await api.reconcile(by, [id])).body.results).toMatchObject([{ status: 'never_seen', order_id: null }]);
    const listed = [];
    for await (const chunk of readOrders(db, { accountId: by.id })) listed.push(...chunk);
    expect(listed).toEqual([]);
  });

  test('and the order of another account with the same id is not', async () => {
    const other = await stack.account();
    const { id, orderId } = await write('same-id');
    expect(await cancel({ source_order_id: id }, other)).toEqual({
      outcome: 'held',
      source_order_id: id,
      order_id: null,
    });
    expect((await rowOf(orderId)).review_state).toBe('needs_review');
  });
});

describe('a list', () => {
  test('gets the outcomes in its order, including repeated ids', async () => {
    const a = await write('list');
    const b = await write('list');
    await confirmLongAgo(b.orderId);
    const unknown = newId('unknown');
    const cancellations = [b.id, unknown, a.id, unknown, a.id].map((source_order_id) => ({ source_order_id }));
    const { results } = await cancel({ cancellations });
    expect(results.map((result: { outcome: string; order_id: number }) => [result.outcome, result.order_id])).toEqual([
      ['requested', b.orderId],
      ['held', null],
      ['cancelled', a.orderId],
      ['held', null],
      ['cancelled', a.orderId],
    ]);
  });

  test('may hold 1,000 ids', async () => {
    const cancellations = Array.from({ length: 1000 }, (_, index) => ({
      source_order_id: `many-${index}`,
      reason: 'x',
    }));
    const { results } = await cancel({ cancellations });
    expect(new Set(results.map((result: { outcome: string }) => result.outcome))).toEqual(new Set(['held']));
    expect((await cancel({ cancellations })).results).toEqual(results);
  });
});

test.each<[string, unknown, string[]]>([
  ['nothing', {}, ['/source_order_id required']],
  ['a number', { source_order_id: 7 }, ['/source_order_id not_a_string']],
  ['a bad reason', { source_order_id: 'x', reason: 7 }, ['/reason not_a_string']],
  ['a long reason', { source_order_id: 'x', reason: 'x'.repeat(501) }, ['/reason too_long']],
  ['U+0000 in the reason', { source_order_id: 'x', reason: 'a\u0000' }, ['/reason control_character']],
  ['half a character', { source_order_id: 'x', reason: '\ud800' }, ['/reason lone_surrogate']],
  ['an empty list', { cancellations: [] }, ['/cancellations not_a_list']],
  ['no list', { cancellations: 'x' }, ['/cancellations not_a_list']],
  ['1,001', { cancellations: Array(1001).fill({ source_order_id: 'x' }) }, ['/cancellations not_a_list']],
  ['both forms', { source_order_id: 'x', cancellations: [] }, ['/source_order_id both_forms']],
  [
    'bad entries',
    { cancellations: ['x', { source_order_id: 'valid' }, { source_order_id: '', reason: [] }] },
    [
      '/cancellations/0 not_an_object',
      '/cancellations/2/source_order_id blank',
      '/cancellations/2/reason not_a_string',
    ],
  ],
])('%s gets 422 with pointers, and nothing is cancelled', async (_name, body, errors) => {
  const reply = await api.cancel(account, body);
  expect(codeOf(reply)).toEqual([422, 'validation_failed']);
  expect(reply.body.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)).toEqual(
    errors,
  );
  expect(await knex('orders').where({ source_order_id: 'valid' })).toEqual([]);
});

test('an order that stays locked is rejected, without an effect on the others', async () => {
  const { id, orderId } = await write('locked');
  const other = await write('unlocked');
  const lock = await hold(knex, `select from orders where order_id = ${orderId} for update`);
  const reply = await api.cancel(account, {
    cancellations: [{ source_order_id: other.id }, { source_order_id: id }],
  });
  expect(codeOf(reply)).toEqual([503, 'overloaded']);
  expect(reply.headers['retry-after']).toMatch(/^\d+$/);
  expect((await rowOf(other.orderId)).review_state).toBe('needs_review');
  await lock.release();
  expect(await cancel({ source_order_id: id })).toMatchObject({ outcome: 'cancelled' });
});

test('the worker removes held cancellations after the retention of receipts, and nothing else', async () => {
  const [old, fresh] = [newId('old'), newId('fresh')];
  const { id } = await write('kept');
  await cancel({ cancellations: [old, fresh, id].map((source_order_id) => ({ source_order_id })) });
  await knex('orders')
    .where({ source_order_id: id })
    .update({ reviewed_at: knex.raw("now() - interval '100 days'") });
  await knex('order_keys')
    .where({ source_order_id: old })
    .update({ held_at: knex.raw("now() - interval '100 days'") });
  const cleaner = await stack.worker();
  await until('it is removed', async () => (await knex('order_keys').where({ source_order_id: old })).length === 0);
  await cleaner.close();
  expect(await knex('order_keys').whereIn('source_order_id', [fresh, id])).toHaveLength(2);
  expect(await send(old)).toMatchObject({ status: 'written', order_state: 'needs_review' });
});

test('metrics count the outcomes', async () => {
  const text = await (await fetch(`${intake.adminUrl}/metrics`)).text();
  for (const outcome of ['cancelled', 'requested', 'held'])
    expect(text).toMatch(new RegExp(`intake_cancellations_total\\{outcome="${outcome}"\\} [1-9]`));
  expect(await (await fetch(`${worker.adminUrl}/metrics`)).text()).toMatch(/worker_cancelled_orders_total [1-9]/);
});
