import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { findEndpoint, listAttempts } from '@orders/database/endpoints/endpoints.ts';
import { untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { type EventReceiver, subscribe as subscribeTo } from '../harness/event-receiver.ts';
import { startApp } from '../harness/processes.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, api } = useStack({ queue: QUEUE_KIND, intake: true, worker: true });

async function startNotifier(): Promise<Child> {
  const adminPort = await freePort();
  const env = { ...stack.env, ADMIN_PORT: String(adminPort), CALLBACK_ALLOW: '127.0.0.1:*', CALLBACK_RATE: '1000' };
  const notifier = await startApp('notifier', env);
  await untilReady(adminPort);
  return notifier;
}

const subscribe = () => subscribeTo(stack);

async function send(account: TestAccount, name: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  const { status } = await api.batch(
    account,
    ids.map((source_order_id) => ({ source_order_id })),
  );
  expect(status).toBe(202);
  return ids;
}

/** Ends the lease of a process that was killed or frozen, as time would. */
const endLeases = () => knex('endpoints').whereNotNull('lease_id').update({ lease_expires_at: knex.fn.now() });

type Subscription = Awaited<ReturnType<typeof subscribe>>;

/** Waits until `count` events arrived and none is pending. */
const untilSettled = ({ account, endpoint, receiver }: Subscription, count: number) =>
  until('everything is delivered', async () => {
    if (new Set(receiver.received.map(({ event }) => event.id)).size < count) return false;
    const found = await findEndpoint(db, account.id, endpoint.endpoint_id);
    return found?.pending === 0 && found.waiting === 0;
  });

const deliveredIds = ({ receiver }: Subscription) => receiver.received.map(({ event }) => event.data.source_order_id);

/** Holds the replies until it is told to give them. */
function holdReplies(receiver: EventReceiver): {
  untilHeld(count: number): Promise<unknown>;
  release(): void;
  /** Ends their connections instead. */
  cut(): void;
} {
  const held: ServerResponse[] = [];
  receiver.respond((_received, response) => held.push(response));
  return {
    untilHeld: (count) => until(`${count} attempts are under way`, async () => held.length >= count),
    release() {
      receiver.respond(204);
      for (const response of held) response.writeHead(204).end();
    },
    cut() {
      receiver.respond(204);
      for (const response of held) response.destroy();
    },
  };
}

test('two notifiers deliver each event once', async () => {
  const subscription = await subscribe();
  const notifiers = [await startNotifier(), await startNotifier()];
  const ids = await send(subscription.account, 'two', 500);
  await untilSettled(subscription, 500);
  expect(new Set(deliveredIds(subscription))).toEqual(new Set(ids));
  expect(subscription.receiver.received).toHaveLength(500);
  for (const notifier of notifiers) await notifier.stop();
});

test('a killed notifier loses nothing', async () => {
  const subscription = await subscribe();
  const replies = holdReplies(subscription.receiver);
  const killed = await startNotifier();
  const ids = await send(subscription.account, 'killed', 50);
  await replies.untilHeld(1);
  await killed.stop('SIGKILL');
  replies.release();
  await endLeases();
  const other = await startNotifier();
  await untilSettled(subscription, 50);
  expect(new Set(deliveredIds(subscription))).toEqual(new Set(ids));
  await other.stop();
});

test('a frozen notifier changes nothing when it runs again after its lease', async () => {
  const subscription = await subscribe();
  const replies = holdReplies(subscription.receiver);
  const frozen = await startNotifier();
  const ids = await send(subscription.account, 'frozen', 50);
  await replies.untilHeld(1);
  frozen.process.kill('SIGSTOP');
  // Its attempts fail, but the other one has delivered these events meanwhile.
  replies.cut();
  await endLeases();
  const other = await startNotifier();
  await untilSettled(subscription, 50);
  const [before] = await knex('endpoints').where({ endpoint_number: subscription.endpoint.endpoint_number });
  frozen.process.kill('SIGCONT');
  const late = await send(subscription.account, 'late', 20);
  await untilSettled(subscription, 70);
  await Promise.all([frozen.stop(), other.stop()]);
  const [after] = await knex('endpoints').where({ endpoint_number: subscription.endpoint.endpoint_number });
  expect(after).toMatchObject({ delivered_to: before.delivered_to + 20, failing_since: null });
  const attempts = await listAttempts(db, subscription.endpoint, { limit: 1000 });
  expect(attempts.filter(({ error }) => error !== null)).toEqual([]);
  expect(new Set(deliveredIds(subscription))).toEqual(new Set([...ids, ...late]));
  expect(await knex('waiting_deliveries').where({ account_id: subscription.account.id })).toEqual([]);
});

test('a notifier that is stopped ends its attempts first', async () => {
  const subscription = await subscribe();
  const replies = holdReplies(subscription.receiver);
  const stopped = await startNotifier();
  await send(subscription.account, 'stopped', 1);
  await replies.untilHeld(1);
  const exit = once(stopped.process, 'exit');
  stopped.process.kill('SIGTERM');
  replies.release();
  expect(await exit).toEqual([0, null]);
  expect(deliveredIds(subscription)).toEqual(['stopped-0']);
  const { pending } = (await findEndpoint(db, subscription.account.id, subscription.endpoint.endpoint_id)) ?? {};
  expect(pending).toBe(0);
});
