import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { untilOrdersAreBeingWritten } from '../harness/barriers.ts';
import { startApp } from '../harness/processes.ts';
import { describeQueues } from '../harness/queue.ts';
import { useStack } from '../harness/use-stack.ts';

describeQueues('a worker killed with SIGKILL, the queue on %s', (kind) => {
  const { stack, knex, api, account } = useStack({ queue: kind, intake: true, account: true });

  const send = async (name: string): Promise<string> => {
    const { status, body } = await api.order(account, { source_order_id: name });
    expect(status).toBe(202);
    return body.receipt_id;
  };

  async function expectEachWrittenOnce(name: string, receiptIds: string[]): Promise<void> {
    const finals = await Promise.all(receiptIds.map((receiptId) => api.final(account, receiptId)));
    expect(finals.filter((reply) => reply.body.status !== 'written').map((reply) => reply.body)).toEqual([]);
    const orders = await knex('orders').where('source_order_id', 'like', `${name}-%`);
    expect(orders).toHaveLength(receiptIds.length);
    expect(new Set(orders.map((order) => order.receipt_id))).toEqual(new Set(receiptIds));
  }

  test('during a batch, twice: without a lease, then with leases, which expire; another worker writes each order once', async () => {
    const held = await knex.transaction();
    await held.raw('lock table orders in access exclusive mode');
    // As one batch, which is one job.
    const orders = Array.from({ length: 60 }, (_, index) => ({ source_order_id: `held-${index}` }));
    const { body } = await api.batch(account, orders);
    const receiptIds: string[] = body.results.map((result: { receipt_id: string }) => result.receipt_id);
    const settings = { ...stack.env, LEASE: '1500ms' };
    // Not overdue, or the sweeper of the first worker would claim it under a lease.
    await knex('outbox').update({ due_at: new Date(Date.now() + 3_600_000) });
    const killedFirst = await startApp('worker', settings);
    await untilOrdersAreBeingWritten(knex);
    const leased = () => knex('receipts').whereIn('receipt_id', receiptIds).whereNotNull('lease_id');
    expect(await leased()).toEqual([]);
    await killedFirst.stop('SIGKILL');
    await knex('outbox').update({ due_at: new Date() });
    const killedSecond = await startApp('worker', settings);
    await until('a batch is claimed', async () => (await leased()).length > 0);
    await killedSecond.stop('SIGKILL');
    // The workers are dead, their orders are not written, and the leases of the second remain.
    expect((await leased()).length).toBeGreaterThan(0);
    await held.commit();
    const otherWorker = await stack.worker();
    await expectEachWrittenOnce('held', receiptIds);
    await otherWorker.close();
  });

  test('repeatedly under load: each order is written once', async () => {
    const receiptIds: string[] = [];
    const countWritten = async () => {
      const [row] = await knex('orders').where('source_order_id', 'like', 'load-%').count();
      return Number(row?.count);
    };
    for (let round = 0; round < 3; round++) {
      const killedWorker = await startApp('worker', { ...stack.env, LEASE: '1500ms' });
      const sending = new AbortController();
      const sendAll = async (sender: number) => {
        for (let order = 0; !sending.signal.aborted; order++)
          receiptIds.push(await send(`load-${round}-${sender}-${order}`));
      };
      const senders = Array.from({ length: 30 }, (_, sender) => sendAll(sender));
      const before = await countWritten();
      await until('it is writing orders', async () => (await countWritten()) > before + 100);
      await killedWorker.stop('SIGKILL');
      sending.abort();
      await Promise.all(senders);
    }
    await stack.worker();
    await expectEachWrittenOnce('load', receiptIds);
  });
});
