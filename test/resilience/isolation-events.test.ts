import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createEndpoint, setEvents } from '@orders/database';
import { type Child, freePort } from '@orders/test-services';
import { type EventReceiver, startEventReceiver } from '../harness/event-receiver.ts';
import { startApp, untilReady } from '../harness/processes.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** Max 99th percentile from accepted to delivered, in milliseconds, or twice that without a flood if that is more. */
const MAX_P99_MS = 1000;
/** A measurement is repeated if the machine stalled during it. */
const ROUNDS = 3;
const ORDERS = 60;
const PAUSE_MS = 50;
/** A million, and the events of each of the failing endpoints. */
const PENDING = 1_000_000;
const PENDING_EACH = 2000;
const UNPUBLISHED = 100_000;
const MAX_MEMORY_MIB = 300;

let stack: Stack;
let intake: RunningIntake;
let notifier: Child;
let quiet: { account: TestAccount; receiver: EventReceiver };
const receivers: EventReceiver[] = [];

beforeAll(async () => {
  stack = await startStack('redis');
  intake = await stack.intake();
  await stack.worker();
  const adminPort = await freePort();
  notifier = await startApp('notifier', { ...stack.env, ADMIN_PORT: String(adminPort), CALLBACK_ALLOW: '127.0.0.1:*' });
  await untilReady(adminPort);
  const account = await stack.account();
  quiet = { account, receiver: await subscribe(account, 1) };
});
afterAll(async () => {
  await notifier.stop();
  for (const receiver of receivers) await receiver.close();
});

const knex = () => stack.database.knex;

/** Enables events and registers endpoints at one new receiver. */
async function subscribe({ id: accountId }: TestAccount, endpoints: number): Promise<EventReceiver> {
  await setEvents(knex(), accountId, true);
  const receiver = await startEventReceiver();
  receivers.push(receiver);
  for (let count = 0; count < endpoints; count += 1)
    await createEndpoint(knex(), stack.secretsKey, { accountId, url: receiver.url, types: null });
  return receiver;
}

/** Adds published events that were not delivered. */
async function addPending({ id }: TestAccount, count: number): Promise<void> {
  await knex().raw(
    `insert into events (account_id, sequence, event_id, type, happened_at, receipt_id, source_order_id, order_id, details)
     select ?, n, gen_random_uuid(), 'receipt.written', now(), gen_random_uuid(), 'pending-' || n, n, '{"warnings": []}'
     from generate_series(1, ?::int) as n`,
    [id, count],
  );
  await knex()('event_logs').where({ account_id: id }).update({ last_sequence: count });
}

/** Adds events that are due and not published. */
async function addUnpublished({ id }: TestAccount): Promise<void> {
  await knex().raw(
    `insert into unpublished_events (account_id, type, receipt_id, source_order_id)
     select ?, 'receipt.dead', gen_random_uuid(), 'unpublished-' || n from generate_series(1, ?::int) as n`,
    [id, UNPUBLISHED],
  );
}

/** Sends orders and waits for their events. @returns the 99th percentile of the milliseconds from accepted to delivered. */
async function measure(name: string): Promise<number> {
  const { account, receiver } = quiet;
  const acceptedAt = new Map<string, number>();
  const deliveredAt = new Map<string, number>();
  receiver.respond(({ event }, response) => {
    deliveredAt.set(event.data.source_order_id, performance.now());
    response.writeHead(204).end();
  });
  for (let order = 0; order < ORDERS; order += 1) {
    const id = `${name}-${order}`;
    expect((await intake.api.order(account, { source_order_id: id })).status).toBe(202);
    acceptedAt.set(id, performance.now());
    await sleep(PAUSE_MS);
  }
  await until('each event is delivered', async () => deliveredAt.size === ORDERS);
  const times = [...acceptedAt].map(([id, at]) => (deliveredAt.get(id) as number) - at).toSorted((a, b) => a - b);
  return times[Math.ceil(ORDERS * 0.99) - 1] as number;
}

test('endpoints that are down or slow, and a million pending events, do not delay the events of another account', async () => {
  const without = Math.min(await measure('quiet-1'), await measure('quiet-2'));
  const bound = Math.max(MAX_P99_MS, 2 * without);

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

  let p99 = Number.POSITIVE_INFINITY;
  for (let round = 1; round <= ROUNDS && p99 > bound; round += 1) {
    const [measured] = await Promise.all([measure(`flood-${round}`), addUnpublished(flooding)]);
    p99 = Math.min(p99, measured);
  }
  if (process.env.ISOLATION_FIGURES === 'on')
    process.stdout.write(
      `accepted to delivered, p99: ${without.toFixed()} ms without, ${p99.toFixed()} ms beside a flood\n`,
    );
  expect(p99).toBeLessThanOrEqual(bound);

  const [, kib] = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${notifier.pid}/status`, 'utf8')) ?? [];
  expect(Number(kib) / 1024).toBeLessThan(MAX_MEMORY_MIB);
});
