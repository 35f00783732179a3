import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import {
  createEndpoint,
  enableEndpoint,
  findEndpoint,
  listAttempts,
  pauseEndpoint,
  removeEndpoint,
  requestTest,
} from '@orders/database/endpoints/endpoints.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { pruneAttempts, removeOrphanedDeliveries } from '@orders/worker/maintenance/prune-deliveries.ts';
import { moveClock, stopClock } from '../harness/clock.ts';
import { subscribe as subscribeTo } from '../harness/event-receiver.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { withStack } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

/** Makes a round of attempts slow. */
const SLOW_MS = 2200;
/** More than become due at once. */
const WAITING = 3000;
const MAX_HASTENED = 2000;
const running = new AbortController().signal;

const { stack, knex, db, api } = useStack({ intake: true, worker: true, notifier: true });

const subscribe = () => subscribeTo(stack);
type Subscription = Awaited<ReturnType<typeof subscribe>>;

let orders = 0;

/** Sends an order and waits until its event is settled, whatever the outcome. */
async function deliverOne({ account, endpoint }: Subscription): Promise<void> {
  const before = (await listAttempts(db, endpoint, { limit: 1000 })).length;
  await api.order(account, { source_order_id: `order-${++orders}` });
  await until('the event was attempted', async () => {
    return (await listAttempts(db, endpoint, { limit: 1000 })).length > before;
  });
}

const rowOf = ({ endpoint: { endpoint_number } }: Subscription) => knex('endpoints').where({ endpoint_number });
const isSlow = async (subscription: Subscription) => (await rowOf(subscription).select('is_slow'))[0]?.is_slow;
const waiting = ({ endpoint: { endpoint_number } }: Subscription) =>
  knex('waiting_deliveries').where({ endpoint_number });

/** Adds deliveries that are due in an hour. */
async function addWaiting({ account, endpoint }: Subscription): Promise<void> {
  await knex.raw(
    `insert into waiting_deliveries (account_id, endpoint_number, sequence, due_at)
     select ?, ?, 1000000 + n, now() + interval '1 hour' + n * interval '1 ms' from generate_series(1, ?::int) as n`,
    [account.id, endpoint.endpoint_number, WAITING],
  );
}

const dueLater = (subscription: Subscription) =>
  waiting(subscription).whereRaw("due_at > now() + interval '30 minutes'");

describe('an endpoint counts as slow', () => {
  test('until its first quick round', async () => {
    const subscription = await subscribe();
    expect(await isSlow(subscription)).toBe(true);
    await deliverOne(subscription);
    expect(await isSlow(subscription)).toBe(false);
  });

  test('for five minutes after a slow round, however quick the next ones are', async () => {
    const subscription = await subscribe();
    const { receiver } = subscription;
    receiver.respond((_received, response) => setTimeout(() => response.writeHead(204).end(), SLOW_MS));
    await deliverOne(subscription);
    expect(await isSlow(subscription)).toBe(true);
    receiver.respond(204);
    await deliverOne(subscription);
    expect(await isSlow(subscription)).toBe(true);
    await rowOf(subscription).update({ last_slow_at: knex.raw("now() - interval '6 minutes'") });
    await deliverOne(subscription);
    expect(await isSlow(subscription)).toBe(false);
  });
});

test('a test event gives an endpoint no precedence over others', async () => {
  const subscription = await subscribe();
  await rowOf(subscription).update({ next_round_at: knex.raw("now() - interval '1 hour'") });
  await requestTest(db, subscription.endpoint);
  await until('it is settled', async () => (await rowOf(subscription).whereNull('test_event_id')).length === 1);
  expect(await rowOf(subscription).whereRaw("next_round_at > now() - interval '1 minute'")).toHaveLength(1);
});

test('one account uses at most a part of the capacity, also if it removes and creates endpoints', async () => {
  await withStack('postgres', async (small) => {
    // Eight for slow and new endpoints, two of them for one account.
    await small.notifier({ NOTIFIER_CONCURRENCY: '16' });
    const { knex: db } = small.database;
    const hostile = await subscribeTo(small);
    const honest = await subscribeTo(small);
    hostile.receiver.respond(() => {});
    for (let count = 0; count < 12; count += 1) {
      const options = { accountId: hostile.account.id, url: hostile.receiver.url, types: null };
      const endpoint = await createEndpoint(connectionOf(db), small.secretsKey, options);
      await requestTest(connectionOf(db), endpoint);
      // Longer than the interval at which the notifier claims endpoints.
      await sleep(250);
      await removeEndpoint(connectionOf(db), endpoint);
    }
    await requestTest(connectionOf(db), honest.endpoint);
    await until('the test of another account arrives', async () => honest.receiver.received.length === 1);
    expect(hostile.receiver.received.length).toBeLessThanOrEqual(3);
  });
});

test('a host gets at most the rate, however many endpoints it has, and nothing is lost', async () => {
  await withStack('postgres', async (limited) => {
    const db = limited.database.knex;
    const letGo = stopClock();
    const { adminUrl } = await limited.notifier({ CALLBACK_RATE: '5' });
    const { receiver, account } = await subscribeTo(limited);
    for (let more = 0; more < 3; more += 1)
      await createEndpoint(connectionOf(db), limited.secretsKey, {
        accountId: account.id,
        url: receiver.url,
        types: null,
      });
    await db.raw(
      `insert into events (account_id, sequence, event_id, type, happened_at, receipt_id, source_order_id, order_id, details)
       select ?, n, gen_random_uuid(), 'receipt.written', now(), gen_random_uuid(), 'order-' || n, n, '{"warnings": []}' from generate_series(1, 4) n`,
      [account.id],
    );
    const delayed = async () => gaugeOf(await readMetrics(adminUrl), 'notifier_delayed_rounds_total') ?? 0;
    /** What has arrived when every endpoint was told to wait once more. */
    const arrived = async (count: number) => {
      await until(`${count} arrive`, async () => receiver.received.length >= count);
      const before = await delayed();
      await until('all wait', async () => (await delayed()) >= before + 8);
      return receiver.received.length;
    };
    expect(await arrived(5)).toBe(5);
    await moveClock(0.6);
    expect(await arrived(8)).toBe(8);
    letGo();
    await until('each endpoint has got each event', async () => receiver.received.length >= 16);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(4);
  });
});

describe('the 2,000 waiting deliveries with the earliest due time become due', () => {
  test('when an endpoint works again', async () => {
    const subscription = await subscribe();
    subscription.receiver.respond(500);
    await deliverOne(subscription);
    await addWaiting(subscription);
    subscription.receiver.respond(204);
    await rowOf(subscription).update({ next_round_at: knex.fn.now() });
    await deliverOne(subscription);
    await until('it works', async () => (await rowOf(subscription).whereNull('failing_since')).length === 1);
    // The event that failed may be one of those that became due.
    const later = (await dueLater(subscription)).length;
    expect([WAITING - MAX_HASTENED, WAITING - MAX_HASTENED + 1]).toContain(later);
  });

  test('when an endpoint is enabled', async () => {
    const subscription = await subscribe();
    await pauseEndpoint(db, subscription.endpoint);
    await addWaiting(subscription);
    expect(await findEndpoint(db, subscription.account.id, subscription.endpoint.endpoint_id)).toMatchObject({
      waiting: WAITING,
    });
    await enableEndpoint(db, subscription.endpoint);
    expect(await dueLater(subscription)).toHaveLength(WAITING - MAX_HASTENED);
  });
});

test('the worker deletes waiting deliveries and attempts of endpoints that no longer exist, and no others', async () => {
  const [removed, kept] = [await subscribe(), await subscribe()];
  for (const subscription of [removed, kept]) {
    await deliverOne(subscription);
    await pauseEndpoint(db, subscription.endpoint);
    await addWaiting(subscription);
  }
  await removeEndpoint(db, removed.endpoint);
  expect(await removeOrphanedDeliveries(db, running)).toBe(WAITING + 1);
  expect(await waiting(removed)).toEqual([]);
  expect(await listAttempts(db, removed.endpoint, { limit: 1 })).toEqual([]);
  expect(await waiting(kept)).toHaveLength(WAITING);
  expect(await listAttempts(db, kept.endpoint, { limit: 10 })).toHaveLength(1);
});

test('recent attempts of an endpoint are kept, at most the newest 1,000', async () => {
  const subscription = await subscribe();
  const { account, endpoint } = subscription;
  await pauseEndpoint(db, endpoint);
  const add = (count: number, at: string) =>
    knex.raw(
      `insert into delivery_attempts (account_id, endpoint_number, at, event_id, type, attempt, duration_ms)
       select ?, ?, now() - ?::interval, gen_random_uuid(), 'receipt.written', n, 1 from generate_series(1, ?::int) as n`,
      [account.id, endpoint.endpoint_number, at, count],
    );
  await add(25_000, '1 minute');
  expect(await pruneAttempts(db, 3_600_000, 1000, running)).toBe(24_000);
  const attempts = await listAttempts(db, endpoint, { limit: 2000 });
  expect(attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 1000 }, (_, index) => 25_000 - index));
  expect(await pruneAttempts(db, 30_000, 1000, running)).toBeGreaterThanOrEqual(1000);
  expect(await listAttempts(db, endpoint, { limit: 1 })).toEqual([]);
});
