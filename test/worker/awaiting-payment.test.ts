import { beforeEach, describe, expect, test } from '@jest/globals';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { countNeedingReview } from '@orders/portal/review/list-new-orders.ts';
import { until } from '@orders/test-services/until.ts';
import { hold, untilPostponed } from '../harness/barriers.ts';
import { createTestSource, deliver, wooCommerceHeaders } from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

const SETTINGS = { ...PRESETS.woocommerce.settings, waitUntilPaid: true };
const BY = 'reviewer@example.com';
let source: Source;

const { stack, knex, db, api, account, worker } = useStack({ intake: true, worker: true, account: 'each test' });

beforeEach(async () => {
  await setEvents(db, account.id, true);
  source = await createTestSource(stack, account, 'woocommerce', { settings: SETTINGS });
});

/** Sends an order in a state, as changed at a minute of an hour; without one, the platform says no time. */
async function send(status: string, minute: number | null, to = source): Promise<string[]> {
  const date_modified_gmt = minute === null ? undefined : `2026-11-28T10:${minute}:00`;
  const body = JSON.stringify({ id: 7, number: '7', total: '10.00', status, date_modified_gmt });
  const reply = await deliver(api, to, body, wooCommerceHeaders(body, 'order.updated'));
  if (reply.status !== 202) return [reply.body.outcome, (await readOrder())?.review_state];
  const receipt = (await api.final(account, reply.body.receipt_id)).body;
  return [receipt.status, receipt.order_state];
}
const readOrder = () => knex('orders').where({ account_id: account.id }).first();
const findWords = () => knex('order_words').where({ account_id: account.id });
const typesOfEvents = (count: number) =>
  until('the events are published', async () => {
    const events = await knex('events').where({ account_id: account.id }).orderBy('sequence');
    return events.length >= count && events.map(({ type }) => type);
  });

/** SQL of a cancellation by the only source of account `?`. */
const cancelledAt = (minute: number) =>
  `select cancel_order_of_source(?, source_number, 'my-woocommerce:7', '2026-11-28T10:${minute}:00Z') from sources where account_id = ?`;

describe('an order that awaits payment', () => {
  test('needs review once it is paid, with audit and events, and is found by its words', async () => {
    expect(await send('pending', 10)).toEqual(['written', 'awaiting_payment']);
    expect(await findWords()).toEqual([]);
    expect(await send('on-hold', 11)).toEqual(['duplicate', 'awaiting_payment']);
    expect(await send('processing', 12)).toEqual(['duplicate', 'needs_review']);
    expect(await readOrder()).toMatchObject({ payment_state: 'paid', severity: 'blocks' });
    const [entry] = await knex('audit_events').where({ account_id: account.id, action: 'order_reopened' });
    expect(entry).toMatchObject({ actor: 'source:my woocommerce', details: { paid: true } });
    expect(await typesOfEvents(5)).toEqual([
      ...['receipt.written', 'receipt.duplicate', 'order.reopened', 'order.edited', 'receipt.duplicate'],
    ]);
    expect(await findWords()).toHaveLength(1);
    expect(await send('failed', 13)).toEqual(['duplicate', 'needs_review']);
    expect(await readOrder()).toMatchObject({ payment_state: 'unpaid' });
  });

  test('needs review once it is paid, if the platform says no time', async () => {
    await send('pending', null);
    expect(await send('processing', null)).toEqual(['duplicate', 'needs_review']);
  });

  test('goes on to wait after an older delivery that says it was paid', async () => {
    await send('failed', 12);
    expect(await send('processing', 11)).toEqual(['duplicate', 'awaiting_payment']);
  });

  test('needs review with its next delivery once its source no longer waits', async () => {
    await send('pending', 10);
    await knex('sources').where({ account_id: account.id }).update({ settings: PRESETS.woocommerce.settings });
    let minute = 10;
    await until('intake reads the source again', async () => {
      minute += 1;
      return (await send('on-hold', minute))[1] === 'needs_review';
    });
  });

  test('waits for a decision about what its platform finished, and is not confirmed as if it were wanted', async () => {
    await send('pending', 10);
    expect(await send('completed', 11)).toEqual(['duplicate', 'awaiting_payment']);
    const [changed] = await knex('changed_deliveries').where({ account_id: account.id });
    expect(changed).toMatchObject({
      changes: expect.arrayContaining([expect.objectContaining({ pointer: '/finished' })]),
    });
  });

  test('waits also if its delivery is mapped later', async () => {
    await knex('sources')
      .where({ account_id: account.id })
      .update({ mapping: { ...PRESETS.woocommerce.mapping, source_order_id: '/other' } });
    const body = JSON.stringify({ id: 7, status: 'pending', date_modified_gmt: '2026-11-28T10:10:00' });
    const { receipt_id } = (await deliver(api, source, body, wooCommerceHeaders(body, 'order.updated'))).body;
    await knex('sources').where({ account_id: account.id }).update({ mapping: PRESETS.woocommerce.mapping });
    expect(await redriveReceipts(db, [receipt_id])).toEqual([receipt_id]);
    expect((await api.final(account, receipt_id)).body).toMatchObject({ order_state: 'awaiting_payment' });
  });

  test('is cancelled, and waits again if its platform orders it again unpaid', async () => {
    await send('pending', 10);
    expect(await send('cancelled', 11)).toEqual(['cancelled', 'cancelled']);
    expect(await send('pending', 12)).toEqual(['duplicate', 'awaiting_payment']);
    expect(await findWords()).toEqual([]);
    expect(await send('processing', 13)).toEqual(['duplicate', 'needs_review']);
  });

  test('waits if its platform had cancelled it before it arrived, and orders it again unpaid', async () => {
    expect(await send('cancelled', 11)).toEqual(['held', undefined]);
    expect(await send('pending', 12)).toEqual(['written', 'awaiting_payment']);
  });

  test.each([
    ['is erased', 'update orders set erased_at = now() where account_id = ?', 'needs_review'],
    ['is reviewed', "update orders set review_state = 'needs_review' where account_id = ?", 'needs_review'],
    [
      'is rejected',
      "update orders set review_state = 'rejected', reviewed_by = 'somebody', reviewed_at = now() where account_id = ?",
      'rejected',
    ],
    ['is cancelled, which was before that', cancelledAt(11), 'needs_review'],
    ['is cancelled, which was after that', cancelledAt(13), 'cancelled'],
  ])('is paid while it %s', async (_, statement, state) => {
    await send('pending', 10);
    const held = await hold(knex, statement.replaceAll('?', String(account.id)));
    const paid = send('processing', 12);
    await untilPostponed(worker);
    expect(await readOrder()).toMatchObject({ review_state: 'awaiting_payment' });
    await held.release();
    expect(await paid).toEqual(['duplicate', state]);
    expect(await knex('orders').where({ account_id: account.id })).toHaveLength(1);
  });

  test('is reviewed before it is paid if a reviewer decides so, and only then confirmed', async () => {
    await send('pending', 10);
    const { order_id } = await readOrder();
    expect(await countNeedingReview(db, account.id)).toEqual({ count: 0, capped: false, hasUnpaid: true });
    const decide = (to: 'confirmed' | 'needs_review') =>
      reviewOrders(db, { accountId: account.id, orderIds: [order_id], to, by: BY });
    expect(await decide('confirmed')).toMatchObject({ changed: [], unchanged: [{ review_state: 'awaiting_payment' }] });
    expect(await decide('needs_review')).toMatchObject({ changed: [order_id] });
    expect(await findWords()).toHaveLength(1);
    expect(await decide('confirmed')).toMatchObject({ changed: [order_id] });
    expect(await send('processing', 11)).toEqual(['duplicate', 'confirmed']);
  });
});
