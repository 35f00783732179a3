import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { describeQueues, QUEUE_KIND } from '../harness/queue.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

describeQueues('status, the queue on %s', (kind) => {
  const { stack, knex, api, account } = useStack({ queue: kind, intake: true, account: true });

  test('has the documented members, before and after processing', async () => {
    const { body: accepted } = await api.order(account, { source_order_id: 'st-1', total: 'free' });
    const before = await api.status(account, accepted.receipt_id);
    expect(before.body).toEqual({
      receipt_id: accepted.receipt_id,
      status: 'received',
      order_id: null,
      channel: 'rest',
      source_order_id: 'st-1',
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updated_at: before.body.received_at,
      attempts: 0,
      next_attempt_at: null,
      warnings: [],
      error: null,
      duplicate_of: null,
      changes: [],
      outdated: false,
      order_state: null,
      source: null,
    });
    const worker = await stack.worker();
    const after = await api.final(account, accepted.receipt_id);
    expect(after.body).toMatchObject({ status: 'written', order_id: expect.any(Number), attempts: 1, error: null });
    expect(after.body.warnings).toMatchObject([{ pointer: '/total' }]);
    await worker.close();
  });

  test('Prefer: wait holds the reply until the receipt is final, on the status route and on both POST routes', async () => {
    const early = api.order(account, { source_order_id: 'st-2' }, { Prefer: 'wait=30' });
    const { body: other } = await api.order(account, { source_order_id: 'st-3' });
    const polled = api.status(account, other.receipt_id, { Prefer: 'wait=30' });
    const worker = await stack.worker();
    const held = await early;
    expect(held.headers['preference-applied']).toBe('wait=30');
    expect(held.body).toEqual({ receipt_id: expect.any(String), status: 'written', order_id: expect.any(Number) });
    expect((await polled).body.status).toBe('written');

    const keyed = { 'Idempotency-Key': 'st-4', Prefer: 'wait=30' };
    const first = await api.order(account, { source_order_id: 'st-4' }, keyed);
    const replayed = await api.order(account, { source_order_id: 'st-4' }, keyed);
    expect(replayed.body).toEqual({ ...first.body, duplicate: true });
    await worker.close();
  });

  // The queue has no part in the next tests.
  if (kind !== QUEUE_KIND) return;

  test('a wait that times out returns the current state', async () => {
    const reply = await api.order(account, { source_order_id: 'st-5' }, { Prefer: 'respond-async, wait=1' });
    expect(reply.status).toBe(202);
    expect(reply.body).toMatchObject({ status: 'received', order_id: null });
    const status = await api.status(account, reply.body.receipt_id, { Prefer: 'wait=0' });
    expect(status.headers['preference-applied']).toBe('wait=0');
    expect(status.body.status).toBe('received');
  });

  test('waits above the share of an account get a reply at once without Preference-Applied', async () => {
    const [firstAccount, other] = [await stack.account(), await stack.account()];
    const ownIntake = await stack.intake();
    const orderOf = async (by: TestAccount) =>
      (await ownIntake.api.order(by, { source_order_id: 'waits' })).body.receipt_id;
    const [firstReceiptId, otherId] = [await orderOf(firstAccount), await orderOf(other)];
    const later = { state: 'failed', next_attempt_at: new Date(Date.now() + 3_600_000) };
    await knex('receipts').where({ receipt_id: firstReceiptId }).update(later);
    const applied: (string | null)[] = [];
    const wait = async () => {
      const headers = { Authorization: `Bearer ${firstAccount.key}`, Prefer: 'wait=30' };
      const reply = await fetch(`${ownIntake.api.url}/ingest/status/${firstReceiptId}`, { headers });
      applied.push(reply.headers.get('preference-applied'));
    };
    const waits = Array.from({ length: 520 }, wait);
    await until('the waits above half of 1,000 have replies', async () => applied.length === 20);
    expect(applied).toEqual(Array(20).fill(null));
    const held = ownIntake.api.status(other, otherId, { Prefer: 'wait=30' });
    const worker = await stack.worker();
    const reply = await held;
    expect([reply.headers['preference-applied'], reply.body.status]).toEqual(['wait=30', 'written']);
    await worker.close();
    await ownIntake.close();
    await Promise.allSettled(waits);
  });

  test('a drain releases waiting requests', async () => {
    const draining = await stack.intake();
    const { body } = await draining.api.order(account, { source_order_id: 'st-6' });
    const waiting = draining.api.status(account, body.receipt_id, { Prefer: 'wait=30' });
    while (!draining.log.text().includes(body.receipt_id)) await new Promise(setImmediate);
    // The wait begins when its request arrives. A health check sent later gets its reply after that.
    await fetch(`${draining.adminUrl}/health/ready`);
    await draining.close();
    const { headers, body: status } = await waiting;
    expect(status.status).toBe('received');
    // A reply whose wait was over would have it.
    expect(headers).not.toHaveProperty('preference-applied');
  });
});
