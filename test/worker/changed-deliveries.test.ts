import { randomUUIDv7 } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { setHoldChangedDeliveries } from '@orders/database/accounts/accounts.ts';
import { type ReviewDecision, reviewOrders } from '@orders/database/orders/review-orders.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { firstUuidAt } from '@orders/database/receipts/uuids.ts';
import type { OrderEdits } from '@orders/domain/apply-edits.ts';
import { decideChangedDelivery } from '@orders/portal/review/decide-changed-delivery.ts';
import { editStoredOrder } from '@orders/portal/review/edit-order.ts';
import {
  type Decision,
  findChangedDeliveries,
  markChangedDeliveries,
} from '@orders/portal/review/find-changed-deliveries.ts';
import { findOrderHistory, findReviewedOrder } from '@orders/portal/review/find-reviewed-order.ts';
import { until } from '@orders/test-services/until.ts';
import { erase, storedFor } from '../harness/erasure.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { runOrders } from '../harness/run-command.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const FIRST = {
  source_order_id: 'SHOP-1',
  customer: { name: 'Aisha Khan', phone: '050 123 4567' },
  address: 'Apt 1204, Marina Heights',
  emirate: 'Dubai',
  items: [
    { name: 'Shawarma', quantity: 2, sku: 'SH-1' },
    { name: 'Karak', quantity: 1, sku: null },
  ],
  total: '149.50',
};
const OTHER_PHONE = { ...FIRST, customer: { ...FIRST.customer, phone: '050 765 4321' } };
const PHONE_CHANGED = { pointer: '/customer/phone', from: '+971501234567', to: '+971507654321' };
let account: TestAccount;

const { stack, knex, db, api, database } = useStack({ intake: true, worker: true, database: true });

/** Sends the first order. @returns the written order. */
async function begin(order: object = FIRST): Promise<{ orderId: number; receiptId: string }> {
  account = await stack.account();
  const { status, order_id: orderId, receipt_id: receiptId } = await api.process(account, order);
  expect(status).toBe('written');
  return { orderId, receiptId };
}
/** Sends the order again. */
async function again(order: object) {
  const { receipt_id } = await api.process(account, order);
  const { body } = await api.status(account, receipt_id);
  expect(body).toMatchObject({ status: 'duplicate', order_id: null });
  return body as { receipt_id: string; changes: object[] };
}
const orderOf = (orderId: number) => knex('orders').where({ order_id: orderId }).first();
const changedDeliveriesOf = (orderId: number) => findChangedDeliveries(database, account.id, [orderId]);
const edit = (orderId: number, edits: OrderEdits) =>
  editStoredOrder(db, { accountId: account.id, orderId, edits, by: 'reviewer@shop.example' });
const review = (orderIds: number[], to: ReviewDecision) =>
  reviewOrders(db, { accountId: account.id, orderIds, to, by: 'reviewer@shop.example' });
const decide = (orderId: number, receiptId: string, decision: Decision) =>
  decideChangedDelivery(db, { accountId: account.id, orderId, receiptId, decision, by: 'me@shop.example' });
const hold = () => setHoldChangedDeliveries(db, account.id, true);

describe('the receipt of an order that was sent again lists', () => {
  test('nothing if it has the same content in any spelling', async () => {
    const { orderId } = await begin();
    for (const same of [FIRST, { ...FIRST, customer: { name: ' Aisha Khan', phone: '+971501234567' }, total: 149.5 }])
      expect((await again(same)).changes).toEqual([]);
    expect(await changedDeliveriesOf(orderId)).toEqual([]);
    const rows = await knex('changed_deliveries').where({ account_id: account.id, order_id: orderId });
    expect(rows.map(({ changes }) => changes)).toEqual([null, null]);
  });

  test('each changed field with both values, and all items as one change if their number differs', async () => {
    const { orderId } = await begin();
    const [firstItem, ...rest] = FIRST.items;
    const one = await again({ ...OTHER_PHONE, total: '155', items: [{ ...firstItem, quantity: 3 }, ...rest] });
    expect(one.changes).toEqual([
      PHONE_CHANGED,
      { pointer: '/total', from: '149.50', to: '155' },
      { pointer: '/items/0/quantity', from: 2, to: 3 },
    ]);
    const other = await again({ ...FIRST, items: [firstItem] });
    expect(other.changes).toEqual([{ pointer: '/items', from: FIRST.items, to: [firstItem] }]);
    expect(await changedDeliveriesOf(orderId)).toEqual(
      [other, one].map(({ receipt_id, changes }) => ({
        order_id: orderId,
        receipt_id,
        received_at: expect.any(Date),
        changes,
        decision: null,
        decided_by: null,
        decided_at: null,
        is_outdated: false,
      })),
    );
    expect(await orderOf(orderId)).toMatchObject({ customer_phone: '+971501234567', total: '149.50' });
  });

  test('the members of changes, warnings and items in the documented order, whatever order they are stored in', async () => {
    const { orderId, receiptId } = await begin({ ...FIRST, emirate: 'Atlantis' });
    const { body: first } = await api.status(account, receiptId);
    const { changes } = await again({ ...FIRST, emirate: 'Atlantis', items: [FIRST.items[0]] });
    await edit(orderId, { '/area': 'Marina' });
    const found = await findReviewedOrder(database, account.id, orderId);
    const [delivery] = await changedDeliveriesOf(orderId);
    const [event] = await findOrderHistory(database, account.id, orderId);
    for (const one of first.warnings) expect(Object.keys(one)).toEqual(['pointer', 'code', 'detail']);
    expect(found?.order.warnings.map((one) => Object.keys(one))).toEqual([['pointer', 'code', 'detail', 'severity']]);
    for (const one of [changes, delivery?.changes].flat()) {
      expect(Object.keys(one as object)).toEqual(['pointer', 'from', 'to']);
      expect(JSON.stringify(one)).toBe(JSON.stringify({ pointer: '/items', from: FIRST.items, to: [FIRST.items[0]] }));
    }
    expect(JSON.stringify(found?.order.items)).toBe(JSON.stringify(FIRST.items));
    expect(event?.changes?.map((one) => Object.keys(one))).toEqual([['pointer', 'before', 'after']]);
  });

  test('no fields that a reviewer edited and no current values of the order', async () => {
    const { orderId } = await begin();
    await edit(orderId, { '/customer/phone': '050 765 4321', '/items/1/quantity': 9 });
    expect((await again(FIRST)).changes).toEqual([]);
    const area = { pointer: '/area', from: null, to: 'Dubai Marina' };
    expect((await again({ ...FIRST, area: 'Dubai Marina' })).changes).toEqual([area]);
    await edit(orderId, { '/items/1/quantity': 1 });
    expect((await again(OTHER_PHONE)).changes).toEqual([]);
  });

  test('changes against the first one, also within one batch and for several at once', async () => {
    account = await stack.account();
    const totals = Array.from({ length: 30 }, (_, index) => String(index + 1));
    const replies = await Promise.all(totals.map((total) => api.process(account, { ...FIRST, total })));
    const statuses = await Promise.all(replies.map(({ receipt_id }) => api.status(account, receipt_id)));
    const [first] = await knex('orders').where({ account_id: account.id });
    for (const [index, { body }] of statuses.entries()) {
      const to = totals[index];
      const changes = to === first.total ? [] : [{ pointer: '/total', from: first.total, to }];
      expect(body).toMatchObject({ changes });
    }
    expect(statuses.filter(({ body }) => body.status === 'duplicate')).toHaveLength(29);
  });

  test('changes against the stored order if the payload of the first one is gone', async () => {
    const { orderId, receiptId } = await begin();
    await edit(orderId, { '/total': '99' });
    await knex('receipts').where({ receipt_id: receiptId }).delete();
    expect((await again(OTHER_PHONE)).changes).toEqual([
      PHONE_CHANGED,
      { pointer: '/total', from: '99', to: '149.50' },
    ]);
  });

  test('short changes even if the first order is very long', async () => {
    const items = Array.from({ length: 1000 }, (_, index) => ({ ...FIRST.items[0], sku: `SH-${index}` }));
    const { orderId } = await begin({ ...FIRST, items });
    const cut = { pointer: '/items', from: null, to: null, cut: true };
    const many = await again({ ...FIRST, items: items.map((item) => ({ ...item, quantity: 3 })) });
    expect(many.changes).toEqual([cut]);
    expect((await again({ ...FIRST, items: [], total: 1 })).changes).toEqual([
      cut,
      { pointer: '/total', from: '149.50', to: '1' },
    ]);
    const { rows } = await knex.raw(
      'select max(length(changes::text)) as most from changed_deliveries where order_id = ?',
      [orderId],
    );
    expect(rows[0].most).toBeLessThan(200);
  });

  test('nothing of an erased customer, before and after', async () => {
    const { orderId } = await begin();
    const { receipt_id } = await again({ ...FIRST, customer: null });
    await erase(stack, account, '--phone', '0501234567');
    expect((await api.status(account, receipt_id)).body.changes).toEqual([]);
    expect((await again({ ...FIRST, customer: null, address: null, total: '1' })).changes).toEqual([]);
    expect(await changedDeliveriesOf(orderId)).toEqual([]);
    expect((await storedFor(stack, account)).join('\n')).not.toContain('501234567');
  });

  test('nothing if the order is erased by setting erased_at alone', async () => {
    const { orderId } = await begin();
    await again(OTHER_PHONE);
    await knex('orders').where({ order_id: orderId }).update({ erased_at: new Date() });
    expect(await changedDeliveriesOf(orderId)).toEqual([]);
  });

  test('a customer that appears only there, who can be found and erased', async () => {
    const { orderId } = await begin();
    await again({ ...FIRST, customer: null });
    await edit(orderId, { '/customer/phone': null });
    await knex('receipt_payloads').where({ account_id: account.id }).delete();
    await knex('audit_events').where({ account_id: account.id }).delete();
    const by = ['--phone', '0501234567'];
    expect((await erase(stack, account, ...by, '--dry-run')).found).toMatchObject([
      { order_id: orderId, matched: ['resends'] },
    ]);
    expect(await erase(stack, account, ...by)).toMatchObject({ orders: 1 });
    expect((await storedFor(stack, account)).join('\n')).not.toContain('501234567');
    expect(await erase(stack, account, ...by)).toMatchObject({ orders: 0 });
  });
});

describe('deciding about changed deliveries', () => {
  test('is optional with "ignore": the order can be confirmed', async () => {
    const { orderId } = await begin();
    await again(OTHER_PHONE);
    expect(await review([orderId], 'confirmed')).toMatchObject({ changed: [orderId], unchanged: [] });
  });

  test('is required with "hold" before confirmation: the newest must be accepted and is then applied', async () => {
    const { orderId } = await begin();
    const { order_id: neighbour } = await api.process(account, { ...FIRST, source_order_id: 'SHOP-2' });
    await hold();
    const older = await again({ ...FIRST, total: '1' });
    const { receipt_id } = await again({ ...OTHER_PHONE, emirate: 'Sharjah' });
    const held = { order_id: orderId, review_state: 'needs_review', held: true };
    expect(await review([orderId, neighbour], 'confirmed')).toMatchObject({ changed: [neighbour], unchanged: [held] });
    expect(await runOrders(stack, 'orders', 'confirm', String(orderId))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('was sent again with other content'),
    });
    expect(await decide(orderId, older.receipt_id, 'accepted')).toBe('conflict');
    expect(await decide(orderId, receipt_id, 'accepted')).toBe('done');
    expect(await orderOf(orderId)).toMatchObject({
      customer_phone: '+971507654321',
      emirate: 'Sharjah',
      emirate_code: 'AE-SH',
      total: '149.50',
    });
    const [newest] = await changedDeliveriesOf(orderId);
    expect(newest).toMatchObject({
      receipt_id,
      decision: 'accepted',
      decided_by: 'me@shop.example',
      decided_at: expect.any(Date),
    });
    const [event] = await knex('audit_events').where({ subject: `order:${orderId}` });
    expect(event).toMatchObject({
      account_id: account.id,
      actor: 'me@shop.example',
      action: 'resend_accepted',
      details: {
        receipt_id,
        changes: expect.arrayContaining([{ pointer: '/emirate', before: 'Dubai', after: 'Sharjah' }]),
      },
    });
    expect(await review([orderId], 'confirmed')).toMatchObject({ changed: [orderId] });
  });

  test('is possible with "hold" for a changed delivery whose receipt was dropped', async () => {
    const { orderId } = await begin();
    await hold();
    const { receipt_id } = await again(OTHER_PHONE);
    await knex('receipts').where({ receipt_id }).delete();
    expect(await review([orderId], 'confirmed')).toMatchObject({ changed: [], unchanged: [{ held: true }] });
    const [left] = await changedDeliveriesOf(orderId);
    expect(left).toMatchObject({ receipt_id, received_at: expect.any(Date), changes: [PHONE_CHANGED] });
    expect(await decide(orderId, receipt_id, 'accepted')).toBe('done');
    expect(await review([orderId], 'confirmed')).toMatchObject({ changed: [orderId] });
  });

  test('as refused changes nothing, and applies to the same content but not to other content', async () => {
    const { orderId } = await begin();
    await hold();
    const { receipt_id } = await again(OTHER_PHONE);
    const before = await orderOf(orderId);
    expect(await decide(orderId, receipt_id, 'refused')).toBe('done');
    expect(await orderOf(orderId)).toEqual(before);
    const [event] = await knex('audit_events').where({ subject: `order:${orderId}` });
    expect(event).toMatchObject({ action: 'resend_refused', details: { receipt_id } });
    await again(OTHER_PHONE);
    await again(FIRST);
    await Promise.all([again(OTHER_PHONE), again(OTHER_PHONE), again(OTHER_PHONE)]);
    const resends = await changedDeliveriesOf(orderId);
    expect(resends.map(({ decision }) => decision)).toEqual(Array(5).fill('refused'));
    expect(new Set(resends.map(({ decided_at }) => decided_at?.getTime())).size).toBe(1);
    await again({ ...OTHER_PHONE, total: '1' });
    expect((await changedDeliveriesOf(orderId))[0]).toMatchObject({ decision: null });
    expect(await review([orderId], 'confirmed')).toMatchObject({ unchanged: [{ held: true }] });
    const { receipt_id: back } = await again(OTHER_PHONE);
    expect((await changedDeliveriesOf(orderId))[0]).toMatchObject({ receipt_id: back, decision: null });
  });

  test('as accepted makes the original content a change', async () => {
    const { orderId } = await begin();
    await decide(orderId, (await again(OTHER_PHONE)).receipt_id, 'accepted');
    expect((await again(OTHER_PHONE)).changes).toEqual([]);
    const { pointer, from, to } = PHONE_CHANGED;
    expect((await again(FIRST)).changes).toEqual([{ pointer, from: to, to: from }]);
  });

  test('as accepted replaces all items if a reviewer removed one', async () => {
    const { orderId } = await begin();
    const [shawarma, karak] = FIRST.items;
    await edit(orderId, { '/items': [karak] });
    const { receipt_id } = await again({ ...FIRST, items: [shawarma, { ...karak, quantity: 5 }] });
    expect(await decide(orderId, receipt_id, 'accepted')).toBe('done');
    expect((await orderOf(orderId)).items).toEqual([shawarma, { ...karak, quantity: 5 }]);
  });

  test('as accepted replaces all items if a reviewer reordered them', async () => {
    const { orderId } = await begin();
    const [shawarma, karak] = FIRST.items;
    await edit(orderId, { '/items': [karak, shawarma] });
    const items = [{ ...shawarma, quantity: 7 }, karak];
    await decide(orderId, (await again({ ...FIRST, items })).receipt_id, 'accepted');
    expect((await orderOf(orderId)).items).toEqual(items);
  });

  test('as accepted keeps another item that a reviewer edited', async () => {
    const { orderId } = await begin();
    const [shawarma, karak] = FIRST.items;
    await edit(orderId, { '/items/1/quantity': 9 });
    const renamed = { ...shawarma, name: 'Falafel', quantity: 7 };
    await decide(orderId, (await again({ ...FIRST, items: [renamed, karak] })).receipt_id, 'accepted');
    expect((await orderOf(orderId)).items).toEqual([renamed, { ...karak, quantity: 9 }]);
  });

  test('about changes that were too long to store uses the payload, and the decision is not shared', async () => {
    const items = Array.from({ length: 1000 }, (_, index) => ({ ...FIRST.items[0], sku: `SH-${index}` }));
    const { orderId } = await begin({ ...FIRST, items });
    await hold();
    const changed = items.map((item) => ({ ...item, quantity: 3 }));
    const refused = await again({ ...FIRST, items: changed });
    await decide(orderId, refused.receipt_id, 'refused');
    const { receipt_id } = await again({ ...FIRST, items: changed });
    expect(await review([orderId], 'confirmed')).toMatchObject({ unchanged: [{ held: true }] });
    const payload = knex('receipts').where({ receipt_id });
    const [{ batch_id }] = await payload.clone().select('batch_id');
    await payload.clone().update({ batch_id: '01890000-0000-7000-8000-000000000000' });
    expect(await decide(orderId, receipt_id, 'accepted')).toBe('conflict');
    await payload.clone().update({ batch_id });
    expect(await decide(orderId, receipt_id, 'accepted')).toBe('done');
    expect((await orderOf(orderId)).items).toEqual(changed);
  });

  test('is not possible for a confirmed order, which stays unchanged', async () => {
    const { orderId } = await begin();
    await hold();
    await review([orderId], 'confirmed');
    const before = await orderOf(orderId);
    const { receipt_id, changes } = await again(OTHER_PHONE);
    expect(changes).toEqual([PHONE_CHANGED]);
    expect(await decide(orderId, receipt_id, 'accepted')).toBe('conflict');
    expect(await orderOf(orderId)).toEqual(before);
  });

  test('is a conflict if repeated, without changes or for an erased order, and nothing for an unknown order', async () => {
    const { orderId, receiptId } = await begin();
    const same = await again(FIRST);
    const { receipt_id } = await again(OTHER_PHONE);
    expect(await decide(orderId, same.receipt_id, 'accepted')).toBe('conflict');
    expect(await decide(orderId, receiptId, 'accepted')).toBeNull();
    expect(await decide(orderId + 1_000_000, receipt_id, 'accepted')).toBeNull();
    expect(await decide(orderId, receipt_id, 'refused')).toBe('done');
    expect(await decide(orderId, receipt_id, 'accepted')).toBe('conflict');
    const next = await again({ ...FIRST, total: '1' });
    await erase(stack, account, '--phone', '0501234567');
    expect(await decide(orderId, next.receipt_id, 'accepted')).toBe('conflict');
    const owner = account;
    account = await stack.account();
    expect(await decide(orderId, receipt_id, 'accepted')).toBeNull();
    expect(await changedDeliveriesOf(orderId)).toEqual([]);
    account = owner;
  });
});

/** The difference between the clocks of the two intakes. */
const APART_MS = 20_000;

/** Records a receipt like an intake with this clock error, and waits for its outcome. */
async function sendBy(clockMs: number, phone: string): Promise<{ receiptId: string; orderId: number | null }> {
  const receiptId = firstUuidAt(Date.now() + clockMs).slice(0, 14) + randomUUIDv7().slice(14);
  const body = Buffer.from(JSON.stringify({ source_order_id: 'SHOP-1', customer: { phone } }));
  const receipt = newReceipt({ receiptId, accountId: account.id, sourceOrderId: 'SHOP-1', body });
  await recordReceipts(database, randomUUIDv7(), 0, [receipt]);
  const { status, order_id } = await until('it is final', async () => {
    const { body } = await api.status(account, receiptId);
    return ['written', 'duplicate'].includes(body.status) && body;
  });
  return { receiptId, orderId: status === 'written' ? order_id : null };
}

test('the newest changed delivery is the one received last, whatever the clocks of the intakes say', async () => {
  account = await stack.account();
  await hold();
  const orderId = (await sendBy(0, '0501234567')).orderId as number;
  const earlier = await sendBy(APART_MS, '0502222222');
  const later = await sendBy(0, '0503333333');
  expect((await changedDeliveriesOf(orderId)).map(({ receipt_id }) => receipt_id)).toEqual([
    later.receiptId,
    earlier.receiptId,
  ]);
  expect(await decide(orderId, earlier.receiptId, 'accepted')).toBe('conflict');
  expect(await review([orderId], 'confirmed')).toMatchObject({ changed: [], unchanged: [{ held: true }] });
  expect(await decide(orderId, later.receiptId, 'accepted')).toBe('done');
  expect(await markChangedDeliveries(database, account.id, [{ order_id: orderId }])).toMatchObject([
    { resent: 'decided' },
  ]);
  expect(await review([orderId], 'confirmed')).toMatchObject({ changed: [orderId] });
  expect(await orderOf(orderId)).toMatchObject({ customer_phone: '+971503333333' });
});

test('a changed delivery received after an accepted one holds the order and is compared with the accepted values', async () => {
  account = await stack.account();
  await hold();
  const orderId = (await sendBy(0, '0501234567')).orderId as number;
  const first = await sendBy(APART_MS, '0502222222');
  expect(await decide(orderId, first.receiptId, 'accepted')).toBe('done');
  const second = await sendBy(0, '0503333333');
  expect(await markChangedDeliveries(database, account.id, [{ order_id: orderId }])).toMatchObject([
    { resent: 'undecided' },
  ]);
  expect(await review([orderId], 'confirmed')).toMatchObject({ changed: [], unchanged: [{ held: true }] });
  expect(await decide(orderId, second.receiptId, 'accepted')).toBe('done');
  const third = await sendBy(-APART_MS, '0504444444');
  const [newest] = await changedDeliveriesOf(orderId);
  expect(newest).toMatchObject({
    receipt_id: third.receiptId,
    changes: [{ pointer: '/customer/phone', from: '+971503333333', to: '+971504444444' }],
  });
});

test('a changed delivery with the same content takes over the decision of the previous one', async () => {
  account = await stack.account();
  const orderId = (await sendBy(0, '0501234567')).orderId as number;
  const refused = await sendBy(APART_MS, '0502222222');
  expect(await decide(orderId, refused.receiptId, 'refused')).toBe('done');
  const same = await sendBy(0, '0502222222');
  const [newest] = await changedDeliveriesOf(orderId);
  expect(newest).toMatchObject({ receipt_id: same.receiptId, decision: 'refused' });
});
