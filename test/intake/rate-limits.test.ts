import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { setRateLimit } from '@orders/database/accounts/accounts.ts';
import type { AccountRateLimit } from '@orders/domain/rate-limit.ts';
import { type FaultyRedis, startFaultyRedis } from '@orders/test-services/faulty-redis.ts';
import { Redis } from 'ioredis';
import type { Reply } from '../harness/api.ts';
import { moveClock } from '../harness/clock.ts';
import { describeWith } from '../harness/programs.ts';
import { leftOf, untilCountersShared } from '../harness/rate-limits.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { countStored } from '../harness/stored.ts';

describeWith('redis-server')('rate limits', () => {
  let redis: FaultyRedis;
  let stack: Stack;
  /** Two intakes with RATE_LIMIT and two without. */
  let limited: RunningIntake[];
  let free: RunningIntake[];

  beforeAll(async () => {
    redis = await startFaultyRedis();
    stack = await startStack('redis', { queue: redis });
    limited = [await stack.intake({ RATE_LIMIT: '3/1h' }), await stack.intake({ RATE_LIMIT: '3/1h' })];
    free = [await stack.intake(), await stack.intake()];
    await untilCountersShared(stack, free);
  });
  // An intake that had to wait for Redis counts alone for a moment.
  beforeEach(() => untilCountersShared(stack, limited));

  async function accountWith(limit: AccountRateLimit): Promise<TestAccount> {
    const account = await stack.account();
    await setRateLimit(stack.database.db, account.id, limit);
    return account;
  }

  /** Sends requests of an account to each intake in turn. They are invalid, but they are counted before they are rejected. */
  async function send(account: TestAccount, count: number, intakes: RunningIntake[]): Promise<Reply[]> {
    const replies: Reply[] = [];
    for (let sent = 0; sent < count; sent++) {
      const { api } = intakes[sent % intakes.length] as RunningIntake;
      replies.push(await (sent % 3 === 2 ? api.preview : api.order)(account, {}));
    }
    return replies;
  }

  /** The number of granted requests. Expects that none is granted after the first rejected one. */
  async function granted(account: TestAccount, count: number, intakes: RunningIntake[]): Promise<number> {
    const statuses = (await send(account, count, intakes)).map((reply) => reply.status);
    const grants = statuses.filter((status) => status === 422).length;
    expect(statuses.slice(grants)).toEqual(Array(count - grants).fill(429));
    return grants;
  }

  test('two intakes share one limit, and other accounts are not affected', async () => {
    const [one, other] = [await stack.account(), await stack.account()];
    expect(await granted(one, 6, limited)).toBe(3);
    expect(await granted(other, 6, limited)).toBe(3);
  });

  test.each<[string, AccountRateLimit, number, number]>([
    ['nothing', null, 3, 8],
    ['a higher one', { requests: 5, seconds: 3600 }, 5, 5],
    ['a lower one', { requests: 2, seconds: 3600 }, 2, 2],
    ['one in another window', { requests: 6, seconds: 7200 }, 6, 6],
    ['none', 'none', 8, 8],
  ])('the limit of an account (%s) applies with and without RATE_LIMIT', async (_, limit, withGeneral, without) => {
    expect(await granted(await accountWith(limit), 8, limited)).toBe(withGeneral);
    expect(await granted(await accountWith(limit), 8, free)).toBe(without);
  });

  /** The counter of an account's requests in Redis. */
  const counterOf = ({ id }: TestAccount, { requests, seconds }: { requests: number; seconds: number }) =>
    `rate:${id}:${requests}/${seconds}`;

  async function withRedis<Result>(work: (client: Redis) => Promise<Result>): Promise<Result> {
    const client = new Redis(redis.url);
    try {
      return await work(client);
    } finally {
      client.disconnect();
    }
  }

  /** Expects that Redis ends the window when a reply says so, and ends it now. */
  async function endWindow(counter: string, { headers }: Reply): Promise<void> {
    const left = await withRedis((client) => client.pttl(counter));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(Number(headers['retry-after']) * 1000);
    await withRedis((client) => client.del(counter));
  }

  const batchOf = (count: number, name = 'batch') =>
    Array.from({ length: count }, (_, index) => ({ source_order_id: `${name} ${index}` }));

  test('a batch counts as one request for each of its orders, rejected ones included, at every intake', async () => {
    const account = await accountWith({ requests: 10, seconds: 3600 });
    const [one, two] = limited as [RunningIntake, RunningIntake];
    const reply = await one.api.batch(account, [...batchOf(5), {}, 7]);
    expect([reply.status, reply.body.accepted, reply.body.refused, leftOf(reply)]).toEqual([202, 5, 2, 3]);
    expect(reply.headers['ratelimit-policy']).toBe('"account";q=10;w=3600');
    expect(await granted(account, 6, [two, one])).toBe(3);
    expect((await two.api.batch(account, batchOf(1))).status).toBe(429);
  });

  test('a batch that is rejected whole counts as one request', async () => {
    const account = await accountWith({ requests: 3, seconds: 3600 });
    const [{ api }] = limited as [RunningIntake];
    expect(leftOf(await api.batch(account, Buffer.from('\n')))).toBe(2);
    expect(leftOf(await api.batch(account, batchOf(1001)))).toBe(1);
    expect(leftOf(await api.batch(account, batchOf(1)))).toBe(0);
    expect((await api.batch(account, batchOf(1))).status).toBe(429);
  });

  test('a batch above the remaining limit is accepted whole, and every intake rejects requests until the excess has passed', async () => {
    const account = await accountWith({ requests: 100, seconds: 3600 });
    const [one, two] = limited as [RunningIntake, RunningIntake];
    expect(leftOf(await one.api.batch(account, batchOf(50)))).toBe(50);
    const reply = await one.api.batch(account, batchOf(250));
    expect([reply.status, reply.body.accepted, leftOf(reply)]).toEqual([202, 250, 0]);
    // Three hours' worth was used in the first hour, so the next request may come at the end of the third hour.
    for (const { api } of [one, two]) {
      const rejected = await api.order(account, { source_order_id: 'too early' });
      expect(rejected.status).toBe(429);
      const seconds = Number(rejected.headers['retry-after']);
      expect(seconds).toBeGreaterThan(2 * 3600);
      expect(seconds).toBeLessThanOrEqual(3 * 3600);
      expect(rejected.headers.ratelimit).toBe(`"account";r=0;t=${seconds}`);
    }
  });

  test('only one of several simultaneous batches may exceed the limit, and the others store nothing', async () => {
    const account = await accountWith({ requests: 10, seconds: 3600 });
    const replies = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        (limited[index % 2] as RunningIntake).api.batch(account, batchOf(30, `at once ${index}`)),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([202, ...Array(3).fill(429)]);
    const stored = await stack.database
      .knex('receipts')
      .where({ account_id: account.id })
      .count('* as receipts')
      .first();
    expect(stored).toEqual({ receipts: 30 });
    const rejected = await limited[0]?.api.order(account, {});
    expect(rejected?.status).toBe(429);
    // 33 requests at ten an hour take about three hours.
    const hours = Number(rejected?.headers['retry-after']) / 3600;
    expect(hours).toBeGreaterThan(2);
    expect(hours).toBeLessThanOrEqual(4);
  });

  test('a list of ids counts as one request per ten ids, and a preview as one per 16 KiB', async () => {
    const account = await accountWith({ requests: 100, seconds: 3600 });
    const [{ api }] = limited as [RunningIntake];
    const ids = Array.from({ length: 95 }, (_, index) => `id ${index}`);
    expect(leftOf(await api.reconcile(account, ids))).toBe(90);
    expect(leftOf(await api.reconcile(account, ids.slice(0, 1)))).toBe(89);
    expect(leftOf(await api.preview(account, { source_order_id: 'short' }))).toBe(88);
    const long = { source_order_id: 'long', delivery_instructions: 'x'.repeat(40_000) };
    expect(leftOf(await api.preview(account, long))).toBe(85);
  });

  test('status requests have a separate limit of five times the account limit', async () => {
    const account = await accountWith({ requests: 2, seconds: 3600 });
    const { body } = await (limited[0] as RunningIntake).api.order(account, { source_order_id: 'polled' });
    const statuses: number[] = [];
    for (let poll = 0; poll < 12; poll += 1) {
      const { api } = limited[poll % 2] as RunningIntake;
      const reply = await api.status(account, body.receipt_id);
      statuses.push(reply.status);
      expect(reply.headers['ratelimit-policy']).toBe('"status";q=10;w=3600');
    }
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
    expect((await (limited[0] as RunningIntake).api.order(account, { source_order_id: 'another' })).status).toBe(202);
  });

  test('a batch bigger than the limit is accepted again once the excess has passed', async () => {
    const limit = { requests: 10, seconds: 3600 };
    const account = await accountWith(limit);
    const [one, two] = limited as [RunningIntake, RunningIntake];
    expect((await one.api.batch(account, batchOf(30, 'first'))).status).toBe(202);
    const rejected = await two.api.batch(account, batchOf(30, 'second'));
    expect(rejected.status).toBe(429);
    await endWindow(counterOf(account, limit), rejected);
    expect((await two.api.batch(account, batchOf(30, 'second'))).status).toBe(202);
  });

  test('without a limit there are no rate limit headers', async () => {
    const replies = [
      ...(await send(await accountWith('none'), 2, limited)),
      ...(await send(await accountWith(null), 2, free)),
      await (free[0] as RunningIntake).api.batch(await accountWith(null), batchOf(2)),
    ];
    for (const { headers } of replies)
      expect(Object.keys(headers).filter((name) => /rate|retry/.test(name))).toEqual([]);
  });

  test('replies state the remaining requests, and a request after Retry-After is accepted', async () => {
    const [{ api }] = limited as [RunningIntake];
    const limit = { requests: 2, seconds: 3600 };
    const account = await accountWith(limit);
    const replies = [];
    for (let index = 0; index < 3; index++)
      replies.push(await api.order(account, { source_order_id: `said-${index}` }));
    expect(replies.map((reply) => [reply.status, leftOf(reply)])).toEqual([
      [202, 1],
      [202, 0],
      [429, 0],
    ]);
    for (const { headers } of replies) expect(headers['ratelimit-policy']).toBe('"account";q=2;w=3600');
    const rejected = replies[2] as Reply;
    const seconds = Number(rejected.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(3600);
    expect(rejected.headers.ratelimit).toBe(`"account";r=0;t=${seconds}`);
    await endWindow(counterOf(account, limit), rejected);
    const again = await api.order(account, { source_order_id: 'said-2' });
    expect([again.status, leftOf(again)]).toEqual([202, 1]);
  });

  test('a rejected request leaves nothing behind and does not use up its idempotency key', async () => {
    const account = await stack.account();
    expect(await granted(account, 4, limited)).toBe(3);
    const before = await countStored(stack.database.knex);
    const send = ({ api }: RunningIntake) =>
      api.order(account, { source_order_id: 'rejected first' }, { 'Idempotency-Key': 'rejected-first' });
    for (const intake of limited)
      expect((await send(intake)).body).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(await countStored(stack.database.knex)).toBe(before);
    const accepted = await send(free[0] as RunningIntake);
    expect(accepted).toMatchObject({ status: 202, body: { receipt_id: expect.any(String) } });
    expect(accepted.body).not.toHaveProperty('duplicate');
  });

  test('a changed limit applies within 5 seconds, whatever the old limit rejected', async () => {
    const account = await accountWith({ requests: 1, seconds: 3600 });
    expect(await granted(account, 6, limited)).toBe(1);
    await setRateLimit(stack.database.db, account.id, { requests: 5, seconds: 3600 });
    await moveClock(5);
    expect(await granted(account, 6, limited)).toBe(5);
  });

  /** Two intakes with RATE_LIMIT that do not wait for Redis. */
  async function hastyIntakes(): Promise<RunningIntake[]> {
    const settings = { RATE_LIMIT: '3/1h', RATE_LIMIT_TIMEOUT: '200ms' };
    const intakes = [await stack.intake(settings), await stack.intake(settings)];
    await untilCountersShared(stack, intakes);
    return intakes;
  }

  test('with Redis frozen replies do not wait, and each intake counts alone until Redis is back', async () => {
    const account = await stack.account();
    const hasty = await hastyIntakes();
    redis.freeze();
    try {
      for (const intake of hasty) {
        await send(await stack.account(), 2, [intake]);
        expect(await granted(account, 20, [intake])).toBe(3);
      }
    } finally {
      redis.thaw();
    }
    await untilCountersShared(stack, hasty);
    // Redis now has every command that any of these requests waited for.
    const counter = counterOf(account, { requests: 3, seconds: 3600 });
    expect(await withRedis((client) => client.get(counter))).toBeNull();
  });

  test('with Redis frozen a batch is accepted, and its intake alone counts the excess', async () => {
    const account = await accountWith({ requests: 10, seconds: 3600 });
    const [{ api }] = (await hastyIntakes()) as [RunningIntake];
    redis.freeze();
    try {
      const reply = await api.batch(account, batchOf(30, 'frozen'));
      expect([reply.status, leftOf(reply)]).toEqual([202, 0]);
      const rejected = await api.order(account, {});
      expect(rejected.status).toBe(429);
      expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(2 * 3600);
    } finally {
      redis.thaw();
    }
  });

  test('with Redis killed each intake counts alone until Redis is back', async () => {
    const account = await stack.account();
    await redis.stop();
    for (const intake of limited) expect(await granted(account, 6, [intake])).toBe(3);
    await redis.startEmpty();
  });
});
