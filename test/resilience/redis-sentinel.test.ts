import { beforeAll, expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { describeWith } from '../harness/programs.ts';
import { type SentinelQueue, startSentinelQueue } from '../harness/redis-sentinel.ts';
import { expectOrderFlow, expectSettled, written } from '../harness/settled.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';

const ORDERS = 300;

describeWith('redis-server')('the queue on a Redis that Sentinels watch', () => {
  let queue: SentinelQueue;
  let stack: Stack;
  let intakes: RunningIntake[];
  let account: TestAccount;

  beforeAll(async () => {
    queue = await startSentinelQueue();
    stack = await startStack('redis', { queue });
    // No sweep replaces a lost wake-up.
    intakes = [await stack.intake({ SWEEP_AFTER: '60s' }), await stack.intake({ SWEEP_AFTER: '60s' })];
    account = await stack.account();
  });

  /** Waits until an order is written before any sweep, which shows that a producer and a worker found the primary. */
  async function untilAnswered(): Promise<void> {
    for (const { api } of intakes)
      await until('a wake-up is processed', async () => {
        const source_order_id = `answered-${Date.now()}`;
        const { body } = await api.order(account, { source_order_id }, { Prefer: 'wait=2' });
        return body.status === 'written';
      });
  }

  test('writes an order, a changed delivery and a webhook of the same order with their expected states', async () => {
    await expectOrderFlow(stack, intakes);
    expect(await (await fetch(`${intakes[0]?.adminUrl}/health/ready`)).json()).toMatchObject({ queue: 'ok' });
  });

  test.each(['frozen', 'killed'] as const)(
    'with a primary that is %s accepts each order and loses none, and the replica takes over',
    async (how) => {
      const worker = await stack.worker({ SWEEP_INTERVAL: '60s' });
      await untilAnswered();
      const [loaded, sender] = [await stack.intake(), await stack.account()];
      const primary = await queue.primary();
      if (how === 'frozen') process.kill(primary.child.pid, 'SIGSTOP');
      else await primary.child.stop('SIGKILL');
      const receiptIds: string[] = [];
      for (let index = 0; index < ORDERS; index += 1) {
        const { status, body } = await loaded.api.order(sender, { source_order_id: `order-${index}` });
        expect(status).toBe(202);
        receiptIds.push(body.receipt_id);
      }
      await until('the other one is the primary', async () => (await queue.primary()).port !== primary.port);
      await untilAnswered();
      if (how === 'frozen') {
        process.kill(primary.child.pid, 'SIGCONT');
        await queue.untilWhole();
      }
      const sweeping = await stack.worker();
      await expectSettled(stack, sender, written(receiptIds));
      for (const service of [loaded, worker, sweeping]) await service.close();
    },
  );
});
