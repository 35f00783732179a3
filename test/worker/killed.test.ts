import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { untilOrdersAreBeingWritten } from '../harness/barriers.ts';
import { startApp } from '../harness/processes.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

describe.each(QUEUE_KINDS)('a worker killed with SIGKILL, the queue on %s', (kind) => {
  let stack: Stack;
  let intake: RunningIntake;
  let account: TestAccount;

  beforeAll(async () => {
    stack = await startStack(kind);
    intake = await stack.intake();
    account = await stack.account();
  });
  afterAll(() => stack.close());

  const send = async (name: string, count: number): Promise<string[]> => {
    const replies = await Promise.all(
      Array.from({ length: count }, (_, index) => intake.api.order(account, { source_order_id: `${name}-${index}` })),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    return replies.map((reply) => reply.body.receipt_id);
  };

  async function expectEachWrittenOnce(name: string, receiptIds: string[]): Promise<void> {
    const finals = await Promise.all(receiptIds.map((receiptId) => intake.api.final(account, receiptId)));
    expect(finals.filter((reply) => reply.body.status !== 'written').map((reply) => reply.body)).toEqual([]);
    const orders = await stack.database.knex('orders').where('source_order_id', 'like', `${name}-%`);
    expect(orders).toHaveLength(receiptIds.length);
    expect(new Set(orders.map((order) => order.receipt_id))).toEqual(new Set(receiptIds));
  }

  test('during a batch, twice: without a lease, then with leases, which expire; another worker writes each order once', async () => {
    const { knex } = stack.database;
    const held = await knex.transaction();
    await held.raw('lock table orders in access exclusive mode');
    // As one batch, which is one job.
    const orders = Array.from({ length: 60 }, (_, index) => ({ source_order_id: `held-${index}` }));
    const { body } = await intake.api.batch(account, orders);
    const receiptIds: string[] = body.results.map((result: { receipt_id: string }) => result.receipt_id);
    const killedFirst = await startApp('worker', stack.env);
    await untilOrdersAreBeingWritten(knex);
    const leased = () => knex('receipts').whereIn('receipt_id', receiptIds).whereNotNull('lease_id');
    expect(await leased()).toEqual([]);
    await killedFirst.stop('SIGKILL');
    const killedSecond = await startApp('worker', stack.env);
    await until('a batch is claimed', async () => (await leased()).length > 0);
    await killedSecond.stop('SIGKILL');
    // The workers are dead, their orders are not written, and the leases of the second remain.
    expect((await leased()).length).toBeGreaterThan(0);
    await held.commit();
    const otherWorker = await stack.worker();
    await expectEachWrittenOnce('held', receiptIds);
    await otherWorker.close();
  });

  /** Polls without a pause until some receipts are written and others are not, or the batch is done. @returns false also after five seconds. */
  async function isHalfWritten(batch: number): Promise<boolean> {
    for (const startedAt = Date.now(); Date.now() - startedAt < 5000; ) {
      const states: string[] = await stack.database
        .knex('receipts')
        .where('source_order_id', 'like', `load-${batch}-%`)
        .pluck('state');
      const written = states.filter((state) => state === 'written').length;
      if (written > 0 && written < states.length) return true;
      if (states.length === 100 && written === 100) return false;
    }
    return false;
  }

  test('repeatedly under load, each time within a batch: each order is written once', async () => {
    const batches: Promise<string[]>[] = [];
    for (let round = 0; round < 3; round++) {
      const killedWorker = await startApp('worker', stack.env);
      // This lasts only some milliseconds, so the worker gets more batches until the test sees it.
      do batches.push(send(`load-${batches.length}`, 100));
      while (!(await isHalfWritten(batches.length - 1)));
      await killedWorker.stop('SIGKILL');
    }
    await stack.worker();
    for (const [batch, receiptIds] of batches.entries()) await expectEachWrittenOnce(`load-${batch}`, await receiptIds);
  });
});
