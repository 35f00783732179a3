import { beforeAll, expect, test } from '@jest/globals';
import { setRateLimit } from '@orders/database/accounts/accounts.ts';
import { openQueueStats } from '@orders/queue/queue-stats.ts';
import { LANES } from '@orders/queue/wake-up.ts';
import { until } from '@orders/test-services/until.ts';
import type { Api, Reply } from '../harness/api.ts';
import { describeWith } from '../harness/programs.ts';
import { startRedisCluster, type TestCluster } from '../harness/redis-cluster.ts';
import { expectOrderFlow, expectSettled } from '../harness/settled.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount, untilQueueIs } from '../harness/stack.ts';

const ORDERS = 600;
const LIMIT = { requests: 100_000, seconds: 3600 };
/** A Redis key of the queue of each lane. */
const KEYS = { prompt: '{receipts}:x', bulk: '{receipts-bulk}:x' };

describeWith('redis-server')('the queue on Redis Cluster', () => {
  let cluster: TestCluster;
  let stack: Stack;
  let intakes: RunningIntake[];
  let account: TestAccount;

  beforeAll(async () => {
    cluster = await startRedisCluster();
    // No sweep replaces a lost wake-up unless a test enables it.
    stack = await startStack('redis', { queue: cluster });
    const settings = { SWEEP_AFTER: '60s', RATE_LIMIT_TIMEOUT: '200ms' };
    intakes = [await stack.intake(settings), await stack.intake(settings)];
    account = await stack.account();
  });

  const api = (index: number) => (intakes[index % intakes.length] as RunningIntake).api;

  test('keeps each lane on one master, and the two lanes on different masters', async () => {
    const [prompt, bulk] = await Promise.all(LANES.map((lane) => cluster.masterOf(KEYS[lane])));
    expect(prompt?.port).not.toBe(bulk?.port);
  });

  test('keeps the wake-up of an accepted order until a worker starts and writes the order', async () => {
    const watch = openQueueStats(cluster.url);
    const accepted = await api(0).order(account, { source_order_id: 'first' });
    expect(accepted.status).toBe(202);
    await until('the wake-up waits', async () => (await watch.lanes())[0]?.waiting === 1);
    await untilQueueIs('ok', intakes[0] as RunningIntake);
    const worker = await stack.worker({ SWEEP_INTERVAL: '60s' });
    expect((await api(1).final(account, accepted.body.receipt_id)).body.status).toBe('written');
    await until('the queue is empty', async () =>
      (await watch.lanes()).every(({ waiting, active, delayed }) => waiting + active + delayed === 0),
    );
    await watch.close();
    await worker.close();
    expect((await cluster.keys()).filter((key) => !/^(\{receipts(-bulk)?\}:receipts|rate:)/.test(key))).toEqual([]);
  });

  test('writes an order, a changed delivery and a webhook of the same order with their expected states', () =>
    expectOrderFlow(stack, intakes));

  /** Waits until both intakes see each other's requests, several times, because one may find the new master first. */
  async function untilCountersShared(sender: TestAccount): Promise<void> {
    await until('the intakes count together', async () => {
      const left: number[] = [];
      for (let index = 0; index < 6; index++) left.push(leftOf(await api(index).order(sender, {})));
      return left.every((count, at) => at === 0 || count === (left[at - 1] as number) - 1);
    });
  }

  async function limitedAccount(): Promise<TestAccount> {
    const sender = await stack.account();
    await setRateLimit(stack.database.db, sender.id, LIMIT);
    return sender;
  }

  test('lets two intakes share one rate limit', async () => {
    await untilCountersShared(await limitedAccount());
  });

  /** Waits until an order is written before any sweep, which shows that the producer and a worker found the master. */
  async function untilAnswered({ order }: Api): Promise<void> {
    await until('a wake-up is processed', async () => {
      const source_order_id = `answered-${Date.now()}`;
      const { body } = await order(account, { source_order_id }, { Prefer: 'wait=2' });
      return body.status === 'written';
    });
  }

  test('with a frozen master accepts each order, and its replica takes over wake-ups and rate limits', async () => {
    const frozen = await cluster.masterOf(KEYS.prompt);
    const counted = await until('an account whose limit is on this master', async () => {
      const sender = await limitedAccount();
      const key = `rate:${sender.id}:${LIMIT.requests}/${LIMIT.seconds}`;
      return (await cluster.masterOf(key)).port === frozen.port && sender;
    });
    await untilCountersShared(counted);
    const worker = await stack.worker({ SWEEP_INTERVAL: '60s' });
    await untilAnswered(api(0));
    frozen.freeze();
    for (let index = 0; index < 200; index++)
      expect((await api(0).order(counted, { source_order_id: `f-${index}` })).status).toBe(202);
    await until('another node is master', async () => (await cluster.masterOf(KEYS.prompt)).port !== frozen.port);
    await untilCountersShared(counted);
    await untilAnswered(api(0));
    frozen.thaw();
    await frozen.untilReplica();
    await worker.close();
  });

  test('with a master killed under load loses no order, and its replica takes over', async () => {
    const loaded = [await stack.intake(), await stack.intake()];
    const workers = [await stack.worker(), await stack.worker()];
    const master = await cluster.masterOf(KEYS.prompt);
    const sender = await stack.account();
    const states: Record<string, string> = {};
    let sent = 0;
    const send = async () => {
      while (sent < ORDERS) {
        const index = sent++;
        const intake = loaded[index % 2] as RunningIntake;
        const reply = await intake.api.order(sender, { source_order_id: `load-${index}` });
        expect(reply.status).toBe(202);
        states[reply.body.receipt_id] = 'written';
        if (index === Math.floor(ORDERS / 3)) await master.kill();
      }
    };
    await Promise.all(Array.from({ length: 8 }, send));
    await expectSettled(stack, sender, states);
    expect(Object.keys(states)).toHaveLength(ORDERS);
    await until('another node is master', async () => (await cluster.masterOf(KEYS.prompt)).port !== master.port);
    await untilAnswered(api(0));
    for (const service of [...loaded, ...workers]) await service.close();
  });
});

const leftOf = ({ headers: { ratelimit = '' } }: Reply) => Number(/^"account";r=(\d+);t=\d+$/.exec(ratelimit)?.[1]);
