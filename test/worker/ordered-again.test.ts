import { beforeEach, describe, expect, test } from '@jest/globals';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { until } from '@orders/test-services/until.ts';
import { hold, untilPostponed } from '../harness/barriers.ts';
import { dispatch } from '../harness/review-list.ts';
import { createTestSource, deliver, wooCommerceHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

const REOPENED = { pointer: '/cancelled', from: true, to: false };
/** Of an order that was pending at first. */
const PAID = { pointer: '/payment_state', from: 'unpaid', to: 'paid' };
const MARK = { pointer: '', code: 'ordered_again' };
const BY = 'reviewer@example.com';
let source: Source;

const { stack, knex, db, api, worker, account } = useStack({ intake: true, worker: true, account: 'each test' });

beforeEach(async () => {
  await setEvents(db, account.id, true);
  source = await createTestSource(stack, account, 'woocommerce');
});

/** Sends an order in a state, as changed at a minute of an hour; without one, the platform says no time. */
async function send(status: string, minute: number | null, more: object = {}) {
  const date_modified_gmt = minute === null ? undefined : `2026-11-28T10:${String(minute).padStart(2, '0')}:00`;
  const body = JSON.stringify({ id: 7, number: '7', total: '10.00', status, date_modified_gmt, ...more });
  const reply = await deliver(api, source, body, wooCommerceHeaders(body, 'order.updated'));
  return reply.status === 202 ? (await api.final(account, reply.body.receipt_id)).body : reply.body;
}
const readOrder = () => knex('orders').where({ account_id: account.id }).first();
const readRequest = () => knex('cancellation_requests').where({ account_id: account.id }).first();
const review = async (to: 'confirmed' | 'rejected') =>
  reviewOrders(db, { accountId: account.id, orderIds: [(await readOrder()).order_id], to, by: BY });
/** Moves a confirmation into the past, so that dispatching can have seen the order. */
const confirmLongAgo = async () => {
  await review('confirmed');
  const { order_id } = await readOrder();
  await dispatch(knex, order_id);
};
const typesOfEvents = () =>
  until('the events are published', async () => {
    const events = await knex('events').where({ account_id: account.id }).orderBy('sequence');
    return events.length >= 5 && events.map(({ type }) => type);
  });

describe('an order that its platform cancelled and then sent again', () => {
  test('needs review again, with a mark, a change and events', async () => {
    await send('pending', 1);
    expect(await send('cancelled', 2)).toEqual({ outcome: 'cancelled' });
    const paid = await send('processing', 3);
    expect(paid).toMatchObject({ status: 'duplicate', changes: [REOPENED, PAID], order_state: 'needs_review' });
    expect(await readOrder()).toMatchObject({ review_state: 'needs_review', review_reason: null, warnings: [MARK] });
    const [entry] = await knex('audit_events').where({ account_id: account.id, action: 'order_reopened' });
    expect(entry).toMatchObject({
      actor: 'source:my woocommerce',
      details: { ordered_again: true },
    });
    expect(await typesOfEvents()).toEqual([
      'receipt.written',
      'order.cancelled',
      ...['order.reopened', 'order.edited', 'receipt.duplicate'],
    ]);
    const found = await knex('order_words').where({ account_id: account.id });
    expect(found).toHaveLength(1);

    expect(await send('processing', 4)).toMatchObject({ status: 'duplicate', changes: [] });
    await send('cancelled', 5);
    expect(await send('processing', 6)).toMatchObject({ changes: [REOPENED], order_state: 'needs_review' });
    expect((await readOrder()).warnings).toHaveLength(1);
  });

  test('shows its other changes too', async () => {
    await send('pending', 1);
    await send('cancelled', 2);
    expect(await send('processing', 3, { total: '12.00' })).toMatchObject({
      changes: [REOPENED, { pointer: '/total', from: '10.00', to: '12.00' }, PAID],
    });
    expect(await readOrder()).toMatchObject({ review_state: 'needs_review', total: '10.00' });
  });

  test.each([
    ['older than the cancellation', 2],
    ['as old as the cancellation', 3],
  ])('stays cancelled if the delivery is %s, by the clock of the platform', async (_, minute) => {
    await send('pending', 1);
    await send('cancelled', 3);
    const late = await send('processing', minute);
    expect(late).toMatchObject({ status: 'duplicate', changes: [PAID], order_state: 'cancelled' });
  });

  test('stays cancelled if the delivery is older than one before a cancellation without a time', async () => {
    await send('pending', 5);
    await send('cancelled', null);
    const late = await send('processing', 3);
    expect(late).toMatchObject({ status: 'duplicate', outdated: true, order_state: 'cancelled' });
  });

  test('stays cancelled if a sender cancelled it with a key before it arrived, and the platform too', async () => {
    await api.cancel(account, { source_order_id: 'my-woocommerce:7' });
    expect(await send('cancelled', 2)).toEqual({ outcome: 'held' });
    expect(await send('processing', 3)).toMatchObject({ status: 'written', order_state: 'cancelled' });
  });

  test('needs review again if the platform says no time', async () => {
    await send('pending', null);
    await send('cancelled', null);
    expect(await send('processing', null)).toMatchObject({ changes: [REOPENED, PAID], order_state: 'needs_review' });
  });

  test('needs review again after a person had rejected it', async () => {
    await send('pending', 1);
    await review('rejected');
    await send('cancelled', 2);
    expect(await send('processing', 3)).toMatchObject({ changes: [REOPENED, PAID], order_state: 'needs_review' });
  });

  test('stays confirmed if it was dispatched: the request to cancel it is open again and says so', async () => {
    await send('pending', 1);
    await confirmLongAgo();
    expect(await send('cancelled', 2)).toEqual({ outcome: 'requested' });
    await knex('cancellation_requests')
      .where({ account_id: account.id })
      .update({ closed_at: new Date(), closed_by: BY });
    expect(await send('processing', 3)).toMatchObject({ changes: [REOPENED, PAID], order_state: 'confirmed' });
    expect(await readRequest()).toMatchObject({ closed_at: null, closed_by: null, ordered_again_at: expect.any(Date) });
    expect(await send('processing', 4)).toMatchObject({ changes: [PAID] });
    expect(await send('cancelled', 5)).toEqual({ outcome: 'requested' });
    expect(await readRequest()).toMatchObject({ closed_at: null, ordered_again_at: null });
  });

  test('stays cancelled if a sender cancelled it with a key', async () => {
    await send('pending', 1);
    await api.cancel(account, { source_order_id: 'my-woocommerce:7' });
    expect(await send('processing', 3)).toMatchObject({ changes: [PAID], order_state: 'cancelled' });
  });

  test('is reopened once others no longer lock it; until then its delivery waits', async () => {
    await send('pending', 1);
    await send('cancelled', 2);
    const { order_id } = await readOrder();
    const held = await hold(knex, `select from orders where order_id = ${order_id} for update`);
    const sent = send('processing', 3);
    await untilPostponed(worker);
    expect(await readOrder()).toMatchObject({ review_state: 'cancelled' });
    await held.release();
    expect(await sent).toMatchObject({ changes: [REOPENED, PAID], order_state: 'needs_review' });
  });
});
