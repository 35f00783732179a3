import { beforeAll, expect, test } from '@jest/globals';
import { type FaultyRedis, startFaultyRedis } from '@orders/test-services/faulty-redis.ts';
import { until } from '@orders/test-services/until.ts';
import { describeWith } from '../harness/programs.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount, untilQueueIs } from '../harness/stack.ts';

describeWith('redis-server')('with Redis down', () => {
  let redis: FaultyRedis;
  let stack: Stack;
  let intake: RunningIntake;
  let account: TestAccount;

  beforeAll(async () => {
    redis = await startFaultyRedis();
    stack = await startStack('redis', { queue: redis });
    intake = await stack.intake();
    await stack.worker();
    account = await stack.account({ signing: true });
  });

  async function send(name: string, count: number, api = intake.api): Promise<string[]> {
    const receiptIds: string[] = [];
    for (let index = 0; index < count; index++) {
      const deliver = index % 2 ? api.webhook : api.order;
      const reply = await deliver(account, { source_order_id: `${name}-${index}` });
      expect(reply.status).toBe(202);
      receiptIds.push(reply.body.receipt_id);
    }
    return receiptIds;
  }

  async function expectWritten(receiptIds: string[]): Promise<void> {
    const finals = await Promise.all(receiptIds.map((receiptId) => intake.api.final(account, receiptId)));
    expect(finals.map((reply) => reply.body)).toEqual(
      receiptIds.map((receipt_id) => expect.objectContaining({ receipt_id, status: 'written', attempts: 1 })),
    );
  }

  const queueLines = () => intake.log.lines.filter((line) => String(line.message).startsWith('queue '));
  const isAvailable = () => queueLines().at(-1)?.level !== 'warn';
  /** The next wake-up that is delivered ends the outage for the log. */
  const untilAvailable = () =>
    until('a wake-up is delivered again', async () => {
      if (!isAvailable()) await send(`after-${queueLines().length}-${Date.now()}`, 1);
      return isAvailable();
    });

  test('100 orders are accepted, intake stays ready, and all are written before Redis is back', async () => {
    await redis.stop();
    const receiptIds = await send('stopped', 100);
    await untilQueueIs('unreachable', intake);
    await expectWritten(receiptIds);
    await redis.startEmpty();
  });

  test('intake starts, accepts orders, and they are written when Redis is up', async () => {
    await redis.stop();
    const early = await stack.intake();
    const receiptIds = await send('before', 3, early.api);
    await redis.startEmpty();
    await expectWritten(receiptIds);
    await early.close();
  });

  test('and frozen, the 202 does not wait, and the orders are written after the thaw', async () => {
    await untilAvailable();
    redis.freeze();
    const receiptIds = await send('frozen', 1);
    // Its wake-up is still awaited.
    expect(isAvailable()).toBe(true);
    await until('the wake-up is lost', async () => !isAvailable());
    receiptIds.push(...(await send('lost', 20)));
    redis.thaw();
    await expectWritten(receiptIds);
  });

  test('the log has one line when the outage begins and one when it ends', async () => {
    await untilAvailable();
    await redis.stop();
    const before = queueLines().length;
    await send('logged', 10);
    await redis.startEmpty();
    await untilAvailable();
    const lines = queueLines().slice(before);
    expect(lines.map((line) => line.level)).toEqual(['warn', 'info']);
  });
});
