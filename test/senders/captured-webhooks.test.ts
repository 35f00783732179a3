import { expect, test } from '@jest/globals';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { decideChangedDelivery } from '@orders/portal/review/decide-changed-delivery.ts';
import { sign } from '../harness/hashes.ts';
import { useStack } from '../harness/use-stack.ts';

const { knex, db, api, account } = useStack({ intake: true, worker: true, account: true });

const WAIT = { Prefer: 'wait=10' };
const REVIEWER = 'reviewer@shop.example';

/** Sends a body with the signature with which it was captured. */
async function replay(path: string, text: string, headers: Record<string, string>) {
  const captured = { 'Content-Type': 'application/json', 'x-service-signature': sign(account.secret, text) };
  const reply = await api.send('POST', path, { Authorization: `Bearer ${account.key}`, ...captured, ...headers }, text);
  return reply.body;
}

// The facts of docs/senders/webhooks.md, Timestamps and replays.

test('a captured webhook that is sent again creates no second order, and shows an old version as a change', async () => {
  const old = '{"source_order_id":"captured-1","total":"10"}';
  const corrected = '{"source_order_id":"captured-1","total":"20"}';
  const keyed = { ...WAIT, 'Idempotency-Key': 'captured-key' };
  const first = await replay('/ingest/webhook', old, keyed);
  expect(first).toMatchObject({ status: 'written' });
  expect(await replay('/ingest/webhook', old, keyed)).toEqual({ ...first, duplicate: true });

  const sendAgain = async (text: string) => {
    const { receipt_id } = await replay('/ingest/webhook', text, WAIT);
    return (await api.status(account, receipt_id)).body;
  };
  const correction = await sendAgain(corrected);
  expect(correction).toMatchObject({ status: 'duplicate', changes: [{ pointer: '/total', from: '10', to: '20' }] });
  const decided = { accountId: account.id, orderId: first.order_id, receiptId: correction.receipt_id, by: REVIEWER };
  expect(await decideChangedDelivery(db, { ...decided, decision: 'accepted' })).toBe('done');

  expect(await sendAgain(old)).toMatchObject({
    status: 'duplicate',
    changes: [{ pointer: '/total', from: '20', to: '10' }],
  });
  const orders = await knex('orders').where({ account_id: account.id });
  expect(orders.map(({ total }) => Number(total))).toEqual([20]);
});

test('a captured cancellation that is sent again cancels an order that a reviewer reopened', async () => {
  const body = '{"source_order_id":"captured-2"}';
  const { order_id } = await replay('/ingest/webhook', body, WAIT);
  const reopening = { accountId: account.id, orderIds: [order_id], to: 'needs_review' as const, by: REVIEWER };
  for (const _time of ['first', 'again']) {
    expect(await replay('/ingest/webhook/cancel', body, {})).toMatchObject({ outcome: 'cancelled' });
    expect(await reviewOrders(db, reopening)).toMatchObject({ changed: [order_id] });
  }
});
