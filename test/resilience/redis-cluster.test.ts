import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setRateLimit } from '@orders/database';
import { LANES, openQueueStats } from '@orders/queue';
import type { Api, Reply } from '../harness/api.ts';
import { expectOrderStory } from '../harness/order-story.ts';
import { describeWith } from '../harness/programs.ts';
import { startRedisCluster, type TestCluster } from '../harness/redis-cluster.ts';
import { expectSettled } from '../harness/settled.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const ORDERS = 600;
const LIMIT = { requests: 100_000, seconds: 3600 };
/** A key of each lane's queue. */
const KEYS = { prompt: '{receipts}:x', bulk: '{receipts-bulk}:x' };

describeWith('redis-server')('the queue on Redis Cluster', () => {
  let cluster: TestCluster;
  let stack: Stack;
  let intakes: RunningIntake[];
  let account: TestAccount;

  beforeAll(async () => {
    cluster = await startRedisCluster();
    // No sweep replaces a lost wake-up, unless a test asks for it.
    stack = await startStack('redis', { queue: cluster });
    intakes = [await stack.intake({ SWEEP_AFTER: '60s' }), await stack.intake({ SWEEP_AFTER: '60s' })];
    account = await stack.account();
  });
  afterAll(() => stack.close());

  const api = (index: number) => (intakes[index % intakes.length] as RunningIntake).api;

  test('each lane lies whole on one master, and the two on two masters', async () => {
    const [prompt, bulk] = await Promise.all(LANES.map((lane) => cluster.masterOf(KEYS[lane])));
    expect(prompt?.port).not.toBe(bulk?.port);
  });

  test('an order is accepted, its wake-up waits in the queue, and a worker that comes writes it', async () => {
    const watch = openQueueStats(cluster.url);
    const accepted = await api(0).order(account, { source_order_id: 'first' });
    expect(accepted.status).toBe(202);
    await until('the wake-up waits', async () => (await watch.lanes())[0]?.waiting === 1);
    expect(await (await fetch(`${intakes[0]?.adminUrl}/health/ready`)).json()).toMatchObject({ queue: 'ok' });
    const worker = await stack.worker({ SWEEP_INTERVAL: '60s' });
    expect((await api(1).final(account, accepted.body.receipt_id)).body.status).toBe('written');
    await until('the worker is seen', async () => (await watch.workers()) === 1);
    await until('the queue is empty', async () =>
      (await watch.lanes()).every(({ waiting, active, delayed }) => waiting + active + delayed === 0),
    );
    await watch.close();
    await worker.close();
    expect((await cluster.keys()).filter((key) => !/^(\{receipts(-bulk)?\}:receipts|rate:)/.test(key))).toEqual([]);
  });

  test('an order, a repeat, and a webhook of the same order end as they should', () =>
    expectOrderStory(stack, intakes));

  /** Two that count together see each other's requests; more than once, as one may have found the master before the other. */
  async function untilTogether(sender: TestAccount): Promise<void> {
    await until('the intakes count together', async () => {
      const left: number[] = [];
      for (let index = 0; index < 6; index++) left.push(leftOf(await api(index).order(sender, {})));
      return left.every((count, at) => at === 0 || count === (left[at - 1] as number) - 1);
    });
  }

  async function limitedAccount(): Promise<TestAccount> {
    const sender = await stack.account();
    await setRateLimit(stack.database.knex, sender.id, LIMIT);
    return sender;
  }

  test('two intakes count together', async () => {
    await untilTogether(await limitedAccount());
  });

  /** Until an order is written well before any sweep: the producer and a worker have found the master. */
  async function untilAnswered({ order }: Api): Promise<void> {
    await until('a wake-up is processed', async () => {
      const source_order_id = `answered-${Date.now()}`;
      const { body } = await order(account, { source_order_id }, { Prefer: 'wait=2' });
      return body.status === 'written';
    });
  }

  test('a master frozen: nobody waits for it; its replica takes over, for wake-ups as for counting', async () => {
    const frozen = await cluster.masterOf(KEYS.prompt);
    const counted = await until('an account that this master counts', async () => {
      const sender = await limitedAccount();
      const key = `rate:${sender.id}:${LIMIT.requests}/${LIMIT.seconds}`;
      return (await cluster.masterOf(key)).port === frozen.port && sender;
    });
    await untilTogether(counted);
    const worker = await stack.worker({ SWEEP_INTERVAL: '60s' });
    await untilAnswered(api(0));
    frozen.freeze();
    // If each waited for the timeout of 200 ms, these would take four seconds.
    const startedAt = performance.now();
    for (let index = 0; index < 20; index++)
      expect((await api(0).order(counted, { source_order_id: `f-${index}` })).status).toBe(202);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    await until('another is master', async () => (await cluster.masterOf(KEYS.prompt)).port !== frozen.port);
    await untilTogether(counted);
    await untilAnswered(api(0));
    frozen.thaw();
    await frozen.untilReplica();
    await worker.close();
  });

  test('a master killed under load: every order is accepted, and written once; the queue is back by its replica', async () => {
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
    await until('another is master', async () => (await cluster.masterOf(KEYS.prompt)).port !== master.port);
    await untilAnswered(api(0));
    for (const service of [...loaded, ...workers]) await service.close();
  });
});

const leftOf = ({ headers: { ratelimit = '' } }: Reply) => Number(/^"account";r=(\d+);t=\d+$/.exec(ratelimit)?.[1]);
