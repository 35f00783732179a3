import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  createEndpoint,
  enableEndpoint,
  findEndpoint,
  listAttempts,
  pauseEndpoint,
  removeEndpoint,
  requestTest,
  resendEvents,
  rotateEndpointSecret,
} from '@orders/database/endpoints/endpoints.ts';
import type { EventType } from '@orders/domain/events.ts';
import { until } from '@orders/test-services/until.ts';
import { startEventReceiver, subscribe as subscribeTo } from '../harness/event-receiver.ts';
import { readMetrics } from '../harness/read-metrics.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api, notifier } = useStack({ intake: true, worker: true, notifier: true });

/** An account with events, and an endpoint that keeps what it receives. */
const subscribe = (types: EventType[] | null = null) => subscribeTo(stack, types);

let subscription: Subscription;
beforeEach(async () => {
  subscription = await subscribe();
});

let orders = 0;

async function send(account: TestAccount, count = 1): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `order-${++orders}`);
  const { status } = await api.batch(
    account,
    ids.map((source_order_id) => ({ source_order_id })),
  );
  expect(status).toBe(202);
  return ids;
}

type Subscription = Awaited<ReturnType<typeof subscribe>>;

const idsOf = ({ receiver }: Subscription) => receiver.received.map(({ event }) => event.data.source_order_id);

const received = (subscription: Subscription, count: number) =>
  until(`${count} deliveries`, async () => subscription.receiver.received.length >= count);

const stateOf = async ({ account, endpoint }: Subscription) => {
  const found = await findEndpoint(db, account.id, endpoint.endpoint_id);
  if (!found) throw new Error('the endpoint was removed');
  return found;
};

/** Lets the first waiting delivery be retried now. */
const retryNow = ({ endpoint: { endpoint_number } }: Subscription) =>
  knex.raw(
    `with first as (
       update waiting_deliveries set due_at = now()
       where endpoint_number = :endpoint_number
         and sequence = (select min(sequence) from waiting_deliveries where endpoint_number = :endpoint_number)
     )
     update endpoints set next_round_at = now() where endpoint_number = :endpoint_number`,
    { endpoint_number },
  );

/** Waits until `count` attempts failed. */
const failed = (subscription: Subscription, count: number) =>
  until(`${count} failed attempts`, async () => {
    const attempts = await listAttempts(db, subscription.endpoint, { limit: 100 });
    return attempts.filter(({ error }) => error !== null).length >= count && attempts;
  });

describe('an event is delivered', () => {
  test('as it is in the event log, signed by Standard Webhooks', async () => {
    await send(subscription.account);
    await received(subscription, 1);
    const [delivery] = subscription.receiver.received;
    const { body } = await api.events(subscription.account);
    expect([delivery?.event]).toEqual(body.events);
    expect(delivery?.headers['webhook-id']).toBe(body.events[0].id);
    expect(delivery?.headers['content-type']).toBe('application/json');
    if (!delivery) throw new Error('nothing was delivered');
    subscription.receiver.verify(delivery, subscription.endpoint.secret);
    const other = await subscribe();
    expect(() => subscription.receiver.verify(delivery, other.endpoint.secret)).toThrow();
    const [attempt] = await until('the attempt is listed', async () => {
      const attempts = await listAttempts(db, subscription.endpoint, { limit: 10 });
      return attempts.length > 0 && attempts;
    });
    expect(attempt).toMatchObject({ sequence: 1, type: 'receipt.written', attempt: 1, status: 204, error: null });
  });

  test('once, for each event after the creation of the endpoint', async () => {
    const ids = await send(subscription.account, 300);
    await received(subscription, 300);
    await until('all are settled', async () => (await stateOf(subscription)).pending === 0);
    expect(idsOf(subscription)).toHaveLength(300);
    expect(new Set(idsOf(subscription))).toEqual(new Set(ids));
    const late = await createEndpoint(db, stack.secretsKey, {
      accountId: subscription.account.id,
      url: subscription.receiver.url,
      types: null,
    });
    expect(late.pending).toBe(0);
  });

  test('of the chosen types alone', async () => {
    const subscription = await subscribe(['receipt.duplicate']);
    const [id] = await send(subscription.account);
    await api.order(subscription.account, { source_order_id: id });
    await received(subscription, 1);
    expect(subscription.receiver.received.map(({ event }) => event.type)).toEqual(['receipt.duplicate']);
  });

  test('to each endpoint of the account, and to no other account', async () => {
    const first = await subscribe();
    const other = await subscribe();
    const secondReceiver = await startEventReceiver();
    const second = { accountId: first.account.id, url: secondReceiver.url, types: null };
    await createEndpoint(db, stack.secretsKey, second);
    await send(first.account);
    await received(first, 1);
    await until('the second has it', async () => secondReceiver.received.length === 1);
    expect(other.receiver.received).toEqual([]);
  });
});

describe('an attempt that fails', () => {
  test.each([
    ['a status', 500, 'refused_status', 500],
    ['a redirect', 302, 'redirect', 302],
  ])('by %s is retried with the same id and body', async (_name, status, error, logged) => {
    subscription.receiver.respond(status);
    await send(subscription.account);
    const [attempt] = await failed(subscription, 1);
    expect(attempt).toMatchObject({ error, status: logged, attempt: 1 });
    subscription.receiver.respond(204);
    await retryNow(subscription);
    await received(subscription, 2);
    const [first, second] = subscription.receiver.received;
    expect(second?.text).toBe(first?.text);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    await until('nothing waits', async () => (await stateOf(subscription)).waiting === 0);
    expect((await stateOf(subscription)).failing_since).toBeNull();
  });

  test('by a reset connection is retried', async () => {
    subscription.receiver.respond((_received, response) => response.destroy());
    await send(subscription.account);
    const [attempt] = await failed(subscription, 1);
    expect(attempt).toMatchObject({ error: 'connection_failed', status: null });
  });

  test('is retried after five seconds, and by the schedule', async () => {
    subscription.receiver.respond(500);
    await send(subscription.account);
    await failed(subscription, 1);
    const [waiting] = await knex('waiting_deliveries')
      .where({ endpoint_number: subscription.endpoint.endpoint_number })
      .select('due_at', 'attempts');
    expect(waiting.attempts).toBe(1);
    const [first] = await listAttempts(db, subscription.endpoint, { limit: 1 });
    const seconds = (waiting.due_at - Number(first?.at)) / 1000;
    // A random part less; the next pause of the schedule is of minutes.
    expect(seconds).toBeGreaterThan(2);
    expect(seconds).toBeLessThan(60);
    await received(subscription, 2);
    const attempts = await failed(subscription, 2);
    expect(attempts.map(({ attempt }) => attempt)).toEqual([2, 1]);
  });

  test('waits as long as Retry-After says', async () => {
    subscription.receiver.respond((_received, response) => response.writeHead(503, { 'Retry-After': '3600' }).end());
    await send(subscription.account);
    await failed(subscription, 1);
    const [endpoint] = await knex('endpoints')
      .where({ endpoint_number: subscription.endpoint.endpoint_number })
      .select(knex.raw('extract(epoch from next_round_at - now())::float8 as seconds'));
    expect(endpoint.seconds).toBeGreaterThan(3000);
  });

  test('makes an endpoint get few attempts, and every event once it works', async () => {
    subscription.receiver.respond(500);
    const ids = await send(subscription.account, 150);
    // The first round has ten attempts, and each later one has one.
    await failed(subscription, 11);
    expect((await stateOf(subscription)).failing_since).not.toBeNull();
    expect(subscription.receiver.received.length).toBeLessThan(50);
    await knex('waiting_deliveries')
      .where({ endpoint_number: subscription.endpoint.endpoint_number })
      .update({ due_at: knex.raw("now() + interval '1 hour'") });
    subscription.receiver.respond(204);
    await retryNow(subscription);
    await until('each was delivered', async () => {
      const { waiting, pending } = await stateOf(subscription);
      return waiting === 0 && pending === 0;
    });
    expect(new Set(idsOf(subscription))).toEqual(new Set(ids));
  });

  test('of one event does not delay other events', async () => {
    const ids = await send(subscription.account, 1);
    await received(subscription, 1);
    const poison = `order-${orders + 5}`;
    subscription.receiver.respond(({ event }, response) =>
      response.writeHead(event.data.source_order_id === poison ? 500 : 204).end(),
    );
    ids.push(...(await send(subscription.account, 60)));
    await until('all others', async () => new Set(idsOf(subscription)).size === ids.length);
    await until('one waits', async () => {
      const { waiting, pending } = await stateOf(subscription);
      return waiting === 1 && pending === 0;
    });
  });
});

describe('events that the receiver refuses', () => {
  test('do not hold up the others, however many there are', async () => {
    const isRefused = (id: string) => Number(id.split('-')[1]) % 3 === 0;
    subscription.receiver.respond(({ event }, response) =>
      response.writeHead(isRefused(event.data.source_order_id) ? 400 : 204).end(),
    );
    const ids = await send(subscription.account, 360);
    await until('each was tried', async () => ids.every((id) => idsOf(subscription).includes(id)));
    await until('the others are settled', async () => {
      const { waiting, pending } = await stateOf(subscription);
      return waiting === ids.filter(isRefused).length && pending === 0;
    });
    const endpoint = knex('endpoints').where({ endpoint_number: subscription.endpoint.endpoint_number });
    await endpoint.clone().update({ next_round_at: knex.raw("now() + interval '1 hour'") });
    await knex('waiting_deliveries')
      .where({ endpoint_number: subscription.endpoint.endpoint_number })
      .update({ due_at: knex.fn.now() });
    const before = subscription.receiver.received.length;
    const added = (await send(subscription.account, 60)).filter((id) => !isRefused(id));
    await until('all are due', async () => (await stateOf(subscription)).pending === 60);
    await endpoint.clone().update({ next_round_at: knex.fn.now() });
    await until('each new one was tried', async () => added.every((id) => idsOf(subscription).includes(id)));
    const last = Math.max(...added.map((id) => idsOf(subscription).indexOf(id)));
    // Half of each round, and the order within the last one.
    expect(last - before).toBeLessThan(2 * 60 + 10);
  });

  test('do not hold up new ones while the endpoint counts as failing', async () => {
    subscription.receiver.respond(({ event }, response) =>
      response.writeHead(event.data.source_order_id.startsWith('refused') ? 400 : 204).end(),
    );
    await api.batch(
      subscription.account,
      Array.from({ length: 5 }, (_, index) => ({ source_order_id: `refused-${index}` })),
    );
    await failed(subscription, 5);
    expect((await stateOf(subscription)).failing_since).not.toBeNull();
    const [id] = await send(subscription.account);
    await until('the new event is delivered', async () => {
      await knex('endpoints')
        .where({ endpoint_number: subscription.endpoint.endpoint_number })
        .update({ next_round_at: knex.fn.now() });
      await retryNow(subscription);
      return idsOf(subscription).includes(id);
    });
    // The refused events may be retried at once, and fail again.
    await until('its success is stored', async () =>
      (await listAttempts(db, subscription.endpoint, { limit: 100 })).some(({ error }) => error === null),
    );
  });

  test('are retried early only after the first recovery', async () => {
    const waiting = () => knex('waiting_deliveries').where({ endpoint_number: subscription.endpoint.endpoint_number });
    subscription.receiver.respond(400);
    await send(subscription.account, 3);
    await failed(subscription, 3);
    const later = { due_at: knex.raw("now() + interval '1 hour'") };
    await waiting().update(later);
    const refused = new Set(idsOf(subscription));
    subscription.receiver.respond(({ event }, response) =>
      response.writeHead(refused.has(event.data.source_order_id) ? 400 : 204).end(),
    );
    const attempts = async (succeeded: boolean) =>
      (await listAttempts(db, subscription.endpoint, { limit: 100 })).filter(
        ({ error }) => (error === null) === succeeded,
      ).length;
    const recover = async () => {
      const before = await attempts(true);
      await knex('endpoints')
        .where({ endpoint_number: subscription.endpoint.endpoint_number })
        .update({ next_round_at: knex.fn.now(), failing_since: knex.fn.now() });
      await send(subscription.account);
      // The endpoint may fail again before a test could see that it works.
      await until('its success is stored', async () => (await attempts(true)) > before);
    };
    await recover();
    await failed(subscription, 6);
    await until('each is settled', async () => (await waiting().where({ attempts: 2 })).length === 3);
    await waiting().update(later);
    const before = await attempts(false);
    await recover();
    await recover();
    expect(await attempts(false)).toBe(before);
  });
});

describe('an endpoint is disabled', () => {
  const disabledByNow = async () =>
    (await readMetrics(notifier.adminUrl))
      .get('notifier_disabled_endpoints_total')
      ?.samples.find(({ labels }) => labels.reason === 'gone')?.value ?? 0;

  test('by 410, and continues where it was once enabled', async () => {
    subscription.receiver.respond(410);
    const before = await disabledByNow();
    const ids = await send(subscription.account, 40);
    await until('it is disabled', async () => (await stateOf(subscription)).disabled === 'gone');
    await until('it is counted', async () => (await disabledByNow()) === before + 1);
    expect(notifier.log.text()).toContain('endpoint disabled');
    subscription.receiver.respond(204);
    ids.push(...(await send(subscription.account, 3)));
    await enableEndpoint(db, subscription.endpoint);
    await until('each was delivered', async () => new Set(idsOf(subscription)).size === ids.length);
    expect(new Set(idsOf(subscription))).toEqual(new Set(ids));
  });

  test('and is not counted if it is of a test account', async () => {
    const [subscription, { account: live }] = [await subscribe(), await subscribe()];
    await knex('accounts').where({ account_id: subscription.account.id }).update({ test_of: live.id });
    subscription.receiver.respond(410);
    const before = await disabledByNow();
    const logged = `"endpoint_id":"${subscription.endpoint.endpoint_id}"`;
    await send(subscription.account);
    await until('it is disabled', async () =>
      notifier.log
        .text()
        .split('\n')
        .some((line) => line.includes('endpoint disabled') && line.includes(logged)),
    );
    expect(await disabledByNow()).toBe(before);
  });

  test('after five days without a success', async () => {
    subscription.receiver.respond(500);
    await send(subscription.account);
    await failed(subscription, 1);
    await knex('endpoints')
      .where({ endpoint_number: subscription.endpoint.endpoint_number })
      .update({ failing_since: knex.raw("now() - interval '121 hours'") });
    await retryNow(subscription);
    await until('it is disabled', async () => (await stateOf(subscription)).disabled === 'failing');
  });

  test('by a person, and still gets test events', async () => {
    expect(await pauseEndpoint(db, subscription.endpoint)).toBe(true);
    await send(subscription.account);
    await until('the event waits', async () => (await stateOf(subscription)).pending === 1);
    await requestTest(db, subscription.endpoint);
    await received(subscription, 1);
    const [test] = subscription.receiver.received;
    expect(test?.event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'endpoint.test',
      timestamp: expect.any(String),
      data: {},
    });
    if (test) subscription.receiver.verify(test, subscription.endpoint.secret);
    await enableEndpoint(db, subscription.endpoint);
    await received(subscription, 2);
  });
});

test('two requests for a test get the same event, and do not end a pause that the receiver asked for', async () => {
  subscription.receiver.respond((_received, response) => response.writeHead(503, { 'Retry-After': '3600' }).end());
  await send(subscription.account, 1);
  await failed(subscription, 1);
  await notifier.close();
  const first = await requestTest(db, subscription.endpoint);
  expect(first?.isNew).toBe(true);
  expect(await requestTest(db, subscription.endpoint)).toEqual({ eventId: first?.eventId, isNew: false });
  subscription.receiver.respond(204);
  await stack.notifier();
  await received(subscription, 2);
  expect(subscription.receiver.received[1]?.event).toMatchObject({ type: 'endpoint.test' });
  await until('the test is settled', async () => (await stateOf(subscription)).failing_since === null);
  const [endpoint] = await knex('endpoints')
    .where({ endpoint_number: subscription.endpoint.endpoint_number })
    .select(knex.raw('extract(epoch from next_round_at - now())::float8 as seconds'));
  expect(endpoint.seconds).toBeGreaterThan(3000);
  expect(subscription.receiver.received).toHaveLength(2);
});

test('deliveries are signed with both secrets during a rotation', async () => {
  const { endpoint, receiver, account } = subscription;
  const secret = await rotateEndpointSecret(db, stack.secretsKey, endpoint, 60_000);
  await send(account);
  await received(subscription, 1);
  const [delivery] = receiver.received;
  if (!delivery) throw new Error('nothing was delivered');
  receiver.verify(delivery, secret);
  receiver.verify(delivery, endpoint.secret);
  await rotateEndpointSecret(db, stack.secretsKey, endpoint, 0);
  await send(account);
  await received(subscription, 2);
  const last = receiver.received[1];
  if (!last) throw new Error('nothing was delivered');
  expect(() => receiver.verify(last, secret)).toThrow();
});

test('a range of events is delivered again', async () => {
  await send(subscription.account, 5);
  await received(subscription, 5);
  await until('all are settled', async () => (await stateOf(subscription)).pending === 0);
  expect(await resendEvents(db, subscription.endpoint, 2, 3)).toBe(2);
  await received(subscription, 7);
  const again = subscription.receiver.received.slice(5).map(({ event }) => event.data.sequence);
  expect(again.toSorted((a, b) => a - b)).toEqual([2, 3]);
});

test('a removed endpoint gets nothing', async () => {
  expect(await removeEndpoint(db, subscription.endpoint)).toBe(true);
  expect(await requestTest(db, subscription.endpoint)).toBeNull();
  const other = await subscribe();
  await send(subscription.account);
  await send(other.account);
  await received(other, 1);
  expect(subscription.receiver.received).toEqual([]);
});

test('events that are too old are skipped', async () => {
  subscription.receiver.respond(500);
  await send(subscription.account, 1);
  await failed(subscription, 1);
  await knex('events').where({ account_id: subscription.account.id }).delete();
  const before = subscription.receiver.received.length;
  await retryNow(subscription);
  await until('nothing waits', async () => (await stateOf(subscription)).waiting === 0);
  expect(subscription.receiver.received).toHaveLength(before);
});
