import { expect, test } from '@jest/globals';
import { freePort } from '@orders/test-services';
import { startEventFlood } from '../../packages/bench/src/isolation/event-flood.ts';
import { usageOf } from '../../packages/bench/src/measure/processes.ts';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { subscribe } from '../harness/event-receiver.ts';
import { startApp, untilReady } from '../harness/processes.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const ORDERS = 20;
const MAX_MEMORY_MIB = 300;

test('endpoints that are down or slow, and a flood of pending events, do not delay the events of another account', async () => {
  const stack = await startStack(QUEUE_KINDS[0] ?? 'postgres');
  const { api } = await stack.intake();
  await stack.worker();
  const adminPort = await freePort();
  const notifier = await startApp('notifier', {
    ...stack.env,
    ADMIN_PORT: `${adminPort}`,
    CALLBACK_ALLOW: '127.0.0.1:*',
  });
  await untilReady(adminPort);
  const { account, receiver } = await subscribe(stack);
  const { knex } = stack.database;
  const amounts = { pending: 50_000, unpublished: 200_000 };
  const flood = closeAtEnd(await startEventFlood({ knex, secretsKey: stack.secretsKey, ...amounts }));

  for (let order = 1; order <= ORDERS; order += 1) {
    expect((await api.order(account, { source_order_id: `quiet-${order}` })).status).toBe(202);
    await until('its event is delivered', async () => receiver.received.length === order);
  }
  // Each event of the quiet account was published and delivered before those of the flood that were due earlier.
  expect(await flood.countUnpublished()).toBeGreaterThan(0);
  expect(await flood.countDelivered()).toBeLessThan(amounts.pending);
  expect((await usageOf(notifier.pid))?.memoryMiB ?? 0).toBeLessThan(MAX_MEMORY_MIB);
});
