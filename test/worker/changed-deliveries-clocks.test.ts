import { randomUUIDv7 } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { setHoldChangedDeliveries } from '@orders/database/accounts/accounts.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { firstUuidAt } from '@orders/database/receipts/uuids.ts';
import { decideChangedDelivery } from '@orders/portal/review/decide-changed-delivery.ts';
import {
  type Decision,
  findChangedDeliveries,
  markChangedDeliveries,
} from '@orders/portal/review/find-changed-deliveries.ts';
import { until } from '@orders/test-services/until.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const ORDER = { source_order_id: 'SHOP-1', customer: { phone: '0501234567' } };
/** The difference between the clocks of the two intakes. */
const APART_MS = 20_000;
let account: TestAccount;

const { stack, knex, db, api, database } = useStack({ intake: true, worker: true, database: true });

/** Records a receipt like an intake with this clock error, and waits for its outcome. */
async function sendBy(clockMs: number, phone: string): Promise<{ receiptId: string; orderId: number | null }> {
  const receiptId = firstUuidAt(Date.now() + clockMs).slice(0, 14) + randomUUIDv7().slice(14);
  const body = Buffer.from(JSON.stringify({ ...ORDER, customer: { phone } }));
  const sourceOrderId = ORDER.source_order_id;
  const receipt = {
    receiptId,
    accountId: account.id,
    channel: 'rest' as const,
    sourceOrderId,
    idempotencyKey: null,
    body,
  };
  await recordReceipts(database, randomUUIDv7(), 0, [receipt]);
  const { status, order_id } = await until('it is final', async () => {
    const { body } = await api.status(account, receiptId);
    return ['written', 'duplicate'].includes(body.status) && body;
  });
  return { receiptId, orderId: status === 'written' ? order_id : null };
}
const decide = (orderId: number, receiptId: string, decision: Decision) =>
  decideChangedDelivery(db, { accountId: account.id, orderId, receiptId, decision, by: 'me@shop.example' });
const confirm = (orderId: number) =>
  reviewOrders(db, {
    accountId: account.id,
    orderIds: [orderId],
    to: 'confirmed',
    by: 'me@shop.example',
  });
const orderOf = (orderId: number) => knex('orders').where({ order_id: orderId }).first();

test('the newest changed delivery is the one received last, whatever the clocks of the intakes say', async () => {
  account = await stack.account();
  await setHoldChangedDeliveries(db, account.id, true);
  const orderId = (await sendBy(0, '0501234567')).orderId as number;
  const earlier = await sendBy(APART_MS, '0502222222');
  const later = await sendBy(0, '0503333333');
  expect((await findChangedDeliveries(database, account.id, [orderId])).map(({ receipt_id }) => receipt_id)).toEqual([
    later.receiptId,
    earlier.receiptId,
  ]);
  expect(await decide(orderId, earlier.receiptId, 'accepted')).toBe('conflict');
  expect(await confirm(orderId)).toMatchObject({ changed: [], unchanged: [{ held: true }] });
  expect(await decide(orderId, later.receiptId, 'accepted')).toBe('done');
  expect(await markChangedDeliveries(database, account.id, [{ order_id: orderId }])).toMatchObject([
    { resent: 'decided' },
  ]);
  expect(await confirm(orderId)).toMatchObject({ changed: [orderId] });
  expect(await orderOf(orderId)).toMatchObject({ customer_phone: '+971503333333' });
});

test('a changed delivery received after an accepted one holds the order and is compared with the accepted values', async () => {
  account = await stack.account();
  await setHoldChangedDeliveries(db, account.id, true);
  const orderId = (await sendBy(0, '0501234567')).orderId as number;
  const first = await sendBy(APART_MS, '0502222222');
  expect(await decide(orderId, first.receiptId, 'accepted')).toBe('done');
  const second = await sendBy(0, '0503333333');
  expect(await markChangedDeliveries(database, account.id, [{ order_id: orderId }])).toMatchObject([
    { resent: 'undecided' },
  ]);
  expect(await confirm(orderId)).toMatchObject({ changed: [], unchanged: [{ held: true }] });
  expect(await decide(orderId, second.receiptId, 'accepted')).toBe('done');
  const third = await sendBy(-APART_MS, '0504444444');
  const [newest] = await findChangedDeliveries(database, account.id, [orderId]);
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
  const [newest] = await findChangedDeliveries(database, account.id, [orderId]);
  expect(newest).toMatchObject({ receipt_id: same.receiptId, decision: 'refused' });
});
