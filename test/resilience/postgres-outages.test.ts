import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { beforeAll, expect, test } from '@jest/globals';
import { openProducer } from '@orders/queue/open-producer.ts';
import { startFaultyRedis } from '@orders/test-services/faulty-redis.ts';
import { until } from '@orders/test-services/until.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { testWith } from '../harness/programs.ts';
import { describeQueues } from '../harness/queue.ts';
import { createTestSource, deliver, shopifyHeaders } from '../harness/sources.ts';
import { type RunningIntake, SOON_EXPIRED, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { startSteadyLoad } from '../harness/steady-load.ts';

describeQueues('Postgres killed and started again, the queue on %s', (kind) => {
  let postgres: FaultyPostgres;
  let stack: Stack;
  let intake: RunningIntake;
  let account: TestAccount;

  beforeAll(async () => {
    postgres = await startFaultyPostgres();
    stack = await startStack(kind, { database: postgres });
    Object.assign(stack.env, SOON_EXPIRED);
    intake = await stack.intake();
    account = await stack.account();
  });

  test('during a wait for the outcome: the 202 arrives without the outcome', async () => {
    const held = intake.api.order(account, { source_order_id: 'waiting' }, { Prefer: 'wait=20' });
    await until('the receipt is stored', () => postgres.knex('receipts').where({ source_order_id: 'waiting' }).first());
    await postgres.kill();
    const reply = await held;
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 202,
      body: { receipt_id: expect.any(String) },
    });
    await postgres.start();
  });

  test('under load: every order with a 202 is written once at its first counted attempt, and all others got 503', async () => {
    await stack.worker();
    const send = (name: string) => intake.api.order(account, { source_order_id: name });
    const { ledger, untilAccepted, stop } = startSteadyLoad(Array(8).fill(send), { restMs: 0 });
    await untilAccepted(50);
    await postgres.kill();
    await until('a request is rejected', async () => ledger.failed.size > 0);
    await postgres.start();
    await untilAccepted(50);
    await stop();

    expect(new Set(ledger.failed.values())).toEqual(new Set(['503 storage_unavailable']));
    const accepted = [...ledger.accepted.values()];
    const finals = await Promise.all(accepted.map((receiptId) => intake.api.final(account, receiptId)));
    expect(finals.map(({ body }) => body).filter((body) => body.status !== 'written' || body.attempts !== 1)).toEqual(
      [],
    );
    const orders = await postgres.knex('orders').whereIn('receipt_id', accepted);
    expect(orders).toHaveLength(accepted.length);
  });

  test('under load of deliveries to a source: all with a 202 are stored with their bytes, and all others got 503', async () => {
    const source = await createTestSource(stack, account, 'shopify');
    const sent = new Map<string, string>();
    const sender = (member: string, topic: string) => (name: string) => {
      const cancelled_at = topic === 'orders/cancelled' ? '2026-11-28T10:00:00Z' : null;
      const body = JSON.stringify({ [member]: `${topic} ${name}`, cancelled_at });
      sent.set(name, body);
      return deliver(intake.api, source, body, shopifyHeaders(body, topic));
    };
    const orders = Array(3).fill(sender('id', 'orders/create'));
    const unmapped = ['orders/create', 'orders/cancelled'].map((topic) => sender('key', topic));
    const { ledger, untilAccepted, stop } = startSteadyLoad([...orders, ...unmapped, sender('id', 'orders/cancelled')]);
    await untilAccepted(50);
    await postgres.kill();
    await until('a delivery is rejected', async () =>
      [...ledger.failed.values()].some((code) => code.startsWith('503')),
    );
    await postgres.start();
    await untilAccepted(50);
    await stop();

    // A cancellation has no receipt.
    expect(new Set(ledger.failed.values())).toEqual(new Set(['503 storage_unavailable', '200 without a code']));
    const { rows } = await postgres.knex.raw(
      `select receipt_id, convert_from(substring(bodies from body_start + case when raw_length is null then 0 else body_length end
                                                 for coalesce(raw_length, body_length)), 'utf8') as raw
       from receipts join receipt_payloads using (batch_id, account_id) where source_number = ?`,
      [source.source_number],
    );
    const stored = new Map(rows.map(({ receipt_id, raw }: { receipt_id: string; raw: string }) => [receipt_id, raw]));
    for (const [name, receiptId] of ledger.accepted)
      expect([name, stored.get(receiptId)]).toEqual([name, sent.get(name)]);
  });
});

testWith('redis-server')(
  'while Redis is down too, the worker does not log that Postgres is available again',
  async () => {
    const redis = await startFaultyRedis();
    const postgres = await startFaultyPostgres();
    const stack = await startStack('redis', { database: postgres, queue: redis });
    const { log } = await stack.worker();
    const untilLogged = (start: string) =>
      until(`the worker logs ${start}`, async () => log.lines.some(({ message }) => String(message).startsWith(start)));
    await postgres.kill();
    await untilLogged('Postgres unavailable; overdue');
    await redis.stop();
    await untilLogged('queue unavailable;');
    await redis.startEmpty();
    await untilLogged('queue available again');
    expect(log.lines.map(({ message }) => message)).not.toContain('Postgres available again');
    await postgres.start();
    await untilLogged('Postgres available again');
  },
);

/** AuthenticationOk, ReadyForQuery and immediately the ErrorResponse of a crashing server. No real server crashes at this exact point. */
const READY_THEN_CRASH = Buffer.concat([
  Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]),
  Buffer.from('E\0\0\0\x19SFATAL\0C57P01\0Mgone\0\0', 'latin1'),
]);

test('a Postgres that crashes during the start of a connection causes a lost wake-up and does not end the process', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.end(READY_THEN_CRASH)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const lost = Promise.withResolvers<unknown>();
  const producer = openProducer({ url: `postgres://x@127.0.0.1:${port}/x`, onLost: lost.resolve });
  producer.wakeUp('prompt', { batchId: randomUUID(), receiptIds: [randomUUID()] });
  expect(Error.isError(await lost.promise)).toBe(true);
  await producer.close();
  server.close();
});
