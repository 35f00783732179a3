import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { createEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { type EventReceiver, startEventReceiver } from '../harness/event-receiver.ts';
import { startApp } from '../harness/processes.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const ORDERS = 60;
/** Of the flooding account, and of each of the failing endpoints. */
const PENDING = 200_000;
const PENDING_EACH = 2000;
const UNPUBLISHED = 100_000;
const MAX_MEMORY_MIB = 300;
let notifier: Child;
let quiet: { account: TestAccount; receiver: EventReceiver };

const { stack, knex, db, api } = useStack({ queue: QUEUE_KIND, intake: true, worker: true });

beforeAll(async () => {
  const adminPort = await freePort();
  notifier = await startApp('notifier', {
    ...stack.env,
    ADMIN_PORT: String(adminPort),
    CALLBACK_ALLOW: '127.0.0.1:*',
    CALLBACK_RATE: '1000',
  });
  await untilReady(adminPort);
  const account = await stack.account();
  quiet = { account, receiver: await subscribe(account, 1) };
});

/** Enables events and registers endpoints at one new receiver. */
async function subscribe({ id: accountId }: TestAccount, endpoints: number): Promise<EventReceiver> {
  await setEvents(db, accountId, true);
  const receiver = await startEventReceiver();
  for (let count = 0; count < endpoints; count += 1)
    await createEndpoint(db, stack.secretsKey, { accountId, url: receiver.url, types: null });
  return receiver;
}

/** Adds published events that were not delivered. */
async function addPending({ id }: TestAccount, count: number): Promise<void> {
  await knex.raw(
    `insert into events (account_id, sequence, event_id, type, happened_at, receipt_id, source_order_id, order_id, details)
     select ?, n, gen_random_uuid(), 'receipt.written', now(), gen_random_uuid(), 'pending-' || n, n, '{"warnings": []}'
     from generate_series(1, ?::int) as n`,
    [id, count],
  );
  await knex('event_logs').where({ account_id: id }).update({ last_sequence: count });
}

/** Adds events that are due and not published. */
async function addUnpublished({ id }: TestAccount): Promise<void> {
  await knex.raw(
    `insert into unpublished_events (account_id, type, receipt_id, source_order_id)
     select ?, 'receipt.dead', gen_random_uuid(), 'unpublished-' || n from generate_series(1, ?::int) as n`,
    [id, UNPUBLISHED],
  );
}

/** Sends orders, one after the delivery of the other. */
async function deliverAll(): Promise<void> {
  const { account, receiver } = quiet;
  for (let order = 1; order <= ORDERS; order += 1) {
    expect((await api.order(account, { source_order_id: `quiet-${order}` })).status).toBe(202);
    await until('its event is delivered', async () => receiver.received.length === order);
  }
}

/** The flooding account's events that are not delivered yet. */
async function pendingOf({ id }: TestAccount): Promise<number> {
  const [endpoint] = await knex('endpoints').where({ account_id: id }).select('delivered_to');
  return PENDING - Number(endpoint.delivered_to);
}

test('endpoints that are down or slow, and a flood of pending events, do not delay the events of another account', async () => {
  for (const kind of ['hanging', 'failing', 'slow', 'closing'] as const) {
    for (let account = 0; account < 2; account += 1) {
      const hostile = await stack.account();
      const receiver = await subscribe(hostile, 10);
      receiver.respond((_received, response) => {
        if (kind === 'failing') response.writeHead(500).end();
        if (kind === 'closing') response.destroy();
        if (kind === 'slow') setTimeout(() => response.writeHead(204).end(), 1800);
      });
      await addPending(hostile, PENDING_EACH);
    }
  }
  const flooding = await stack.account();
  const flooded = await subscribe(flooding, 1);
  await addPending(flooding, PENDING);
  await until('the flood has begun', async () => flooded.received.length > 100);

  await Promise.all([deliverAll(), addUnpublished(flooding)]);
  // Each of the quiet account's events was delivered while those of the flood waited.
  expect(await pendingOf(flooding)).toBeGreaterThan(PENDING / 10);

  const [, kib] = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${notifier.pid}/status`, 'utf8')) ?? [];
  expect(Number(kib) / 1024).toBeLessThan(MAX_MEMORY_MIB);
});
