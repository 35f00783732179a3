import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { startFaultyRedis } from '@orders/test-services/faulty-redis.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { codeOf, type Reply } from '../harness/api.ts';
import { lockTables } from '../harness/barriers.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { describeWith } from '../harness/programs.ts';
import { startStack } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const NEVER_SEEN = { status: 'never_seen', receipt_id: null, order_id: null, received_at: null };

const { stack, knex, intake, account } = useStack({ intake: true, account: true });

/** The result for one id. Expects a 200 reply. */
async function ask(id: string, by = account): Promise<Record<string, unknown>> {
  const { status, body } = await intake.api.reconcile(by, [id]);
  expect(status).toBe(200);
  expect(body.results).toHaveLength(1);
  const { source_order_id, ...said } = body.results[0];
  expect(source_order_id).toBe(id);
  return said;
}

async function send(id: string, order: object = {}, headers = {}): Promise<Reply['body']> {
  const reply = await intake.api.order(account, { source_order_id: id, ...order }, headers);
  expect(reply.status).toBe(202);
  return reply.body;
}

/** A version 7 UUID of this time. */
const uuidOf = (time: number) =>
  time
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-') + randomUUIDv7().slice(13);

const becomes = (id: string, status: string) =>
  until(`${id} is ${status}`, async () => {
    const said = await ask(id);
    return said.status === status && said;
  });

describe('a list of ids', () => {
  test('gets results in its order, including repeated and unknown ids, and compares each id exactly', async () => {
    const { receipt_id } = await send('Exact 1');
    const asked = ['never', 'Exact 1', 'exact 1', 'Exact 1 ', 'Exact 1', 'e\u0301', '%', 'a,"b"\\{}', 'NULL'];
    const { body } = await intake.api.reconcile(account, asked);
    expect(body.results.map((result: { source_order_id: string }) => result.source_order_id)).toEqual(asked);
    for (const { source_order_id, ...said } of body.results)
      expect([source_order_id, said]).toEqual([
        source_order_id,
        source_order_id === 'Exact 1'
          ? { status: 'received', receipt_id, order_id: null, received_at: expect.stringMatching(/Z$/) }
          : NEVER_SEEN,
      ]);
  });

  test('may hold 1,000 ids of the maximum length', async () => {
    const whole = Array.from({ length: 1000 }, (_, index) => String(1000 + index) + '\u{1F354}'.repeat(251));
    const last = whole.at(-1) as string;
    const { receipt_id } = await send(last);
    const { status, body } = await intake.api.reconcile(account, whole);
    expect(status).toBe(200);
    const seen = body.results.filter((result: { status: string }) => result.status !== 'never_seen');
    expect(seen).toMatchObject([{ source_order_id: last, receipt_id }]);
  });

  test.each<[string, unknown, string[]]>([
    ['none', {}, ['/source_order_ids not_a_list']],
    ['no list', { source_order_ids: 'x' }, ['/source_order_ids not_a_list']],
    ['an empty one', { source_order_ids: [] }, ['/source_order_ids not_a_list']],
    ['1,001 ids', { source_order_ids: Array(1001).fill('x') }, ['/source_order_ids not_a_list']],
    [
      'ids that break their rule',
      { source_order_ids: ['ok', 7, '', null, 'a\u0000', '\ud800', ' ', 'x'.repeat(256), {}] },
      [
        '/source_order_ids/1 not_a_string',
        '/source_order_ids/2 blank',
        '/source_order_ids/3 required',
        '/source_order_ids/4 control_character',
        '/source_order_ids/5 lone_surrogate',
        '/source_order_ids/6 blank',
        '/source_order_ids/7 too_long',
        '/source_order_ids/8 not_a_string',
      ],
    ],
  ])('is rejected when it is %s', async (_, body, errors) => {
    const headers = { Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/json' };
    const reply = await intake.api.send('POST', '/ingest/reconcile', headers, JSON.stringify(body));
    expect(codeOf(reply)).toEqual([422, 'validation_failed']);
    expect(reply.body.detail).toBe('The list of ids breaks the rules listed in "errors".');
    expect(reply.body.errors.map((error: Record<string, string>) => `${error.pointer} ${error.code}`)).toEqual(errors);
  });

  test.each([
    ['no key', { Authorization: '' }, '{}', 401, 'missing_api_key'],
    ['another media type', { 'Content-Type': 'text/plain' }, '{}', 415, 'unsupported_media_type'],
    ['no JSON', {}, '["x"', 400, 'malformed_body'],
    ['a bare list', {}, '["x"]', 400, 'malformed_body'],
    ['too large', {}, ' '.repeat(1_048_577), 413, 'payload_too_large'],
  ])('is rejected like an order: %s', async (_, headers, body, status, code) => {
    const sent = { Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/json', ...headers };
    const reply = await intake.api.send('POST', '/ingest/reconcile', sent, body);
    expect(codeOf(reply)).toEqual([status, code]);
  });

  test('counts as one request of the account', async () => {
    const limited = await stack.intake({ RATE_LIMIT: '2/1h' });
    const own = await stack.account();
    const statuses = [];
    for (let time = 0; time < 3; time++) statuses.push((await limited.api.reconcile(own, ['a', 'b', 'c'])).status);
    expect(statuses).toEqual([200, 200, 429]);
    await limited.close();
  });

  test('never reveals ids of another account', async () => {
    const other = await stack.account();
    await send('mine alone');
    expect(await ask('mine alone')).toMatchObject({ status: 'received' });
    expect(await ask('mine alone', other)).toEqual(NEVER_SEEN);
  });

  test('causes storage_unavailable while Postgres is down', async () => {
    const fastWorker = await stack.intake({ PG_QUERY_TIMEOUT: '500ms' });
    await fastWorker.api.reconcile(account, ['x']);
    const held = await lockTables(knex, 'outbox');
    const reply = await fastWorker.api.reconcile(account, ['x']).finally(held.release);
    expect(codeOf(reply)).toEqual([503, 'storage_unavailable']);
    await fastWorker.close();
  });
});

describe('the status of an id', () => {
  beforeAll(() => poisonOrders(knex));

  test('is received without a worker, then written, then duplicate after a changed delivery', async () => {
    const { receipt_id } = await send('rc-1');
    expect(await ask('rc-1')).toMatchObject({ status: 'received', receipt_id, order_id: null });
    const worker = await stack.worker();
    const { order_id, received_at } = (await intake.api.final(account, receipt_id)).body;
    const { received_at: said, ...written } = await becomes('rc-1', 'written');
    expect(written).toEqual({ status: 'written', receipt_id, order_id: expect.any(Number) });
    expect([written.order_id, said]).toEqual([order_id, received_at]);

    await worker.close();
    const repeat = await send('rc-1');
    expect(await ask('rc-1')).toMatchObject({ status: 'received', receipt_id: repeat.receipt_id, order_id });
    const again = await stack.worker();
    await intake.api.final(account, repeat.receipt_id);
    // The duplicate is found by its outbox row until that is settled, and then in `changed_deliveries`.
    await noteChangedDelivery(order_id, repeat.receipt_id);
    await until('the outbox is empty', async () => (await knex('outbox')).length === 0);
    expect(await ask('rc-1')).toMatchObject({ status: 'duplicate', receipt_id: repeat.receipt_id, order_id });
    const { body } = await intake.api.status(account, repeat.receipt_id);
    expect((await ask('rc-1')).received_at).toBe(body.received_at);
    await again.close();
  });

  test('is normalized under a lease', async () => {
    const { receipt_id } = await send('rc-2');
    await knex('receipts')
      .where({ receipt_id })
      .update({
        state: 'normalized',
        lease_id: randomUUID(),
        lease_expires_at: new Date(Date.now() + 3_600_000),
      });
    expect(await ask('rc-2')).toMatchObject({ status: 'normalized', receipt_id });
  });

  test('is failed while the next attempt is due, also after the outbox row was settled', async () => {
    const slowWorker = await stack.worker({ RETRY_BASE: '1h', RETRY_CAP: '1h' });
    const { receipt_id } = await send('rc-3', { order_number: 'poison 3' });
    expect(await becomes('rc-3', 'failed')).toMatchObject({ receipt_id, order_id: null });
    await until('its outbox row is settled', async () => {
      const [outboxRow] = await knex('outbox').whereRaw('? = any(receipt_ids)', [receipt_id]);
      return outboxRow && outboxRow.due_at > new Date(Date.now() + 600_000);
    });
    expect(await ask('rc-3')).toMatchObject({ status: 'failed', receipt_id });
    await slowWorker.close();
  });

  test('is dead, received after a redrive, and then written', async () => {
    const worker = await stack.worker({ RETRY_ATTEMPTS: '2' });
    const { receipt_id } = await send('rc-4', { order_number: 'poison 4' });
    await becomes('rc-4', 'dead');
    await until('its outbox row is deleted', async () => {
      return (await knex('outbox').whereRaw('? = any(receipt_ids)', [receipt_id])).length === 0;
    });
    const { body } = await intake.api.status(account, receipt_id);
    expect(await ask('rc-4')).toEqual({ status: 'dead', receipt_id, order_id: null, received_at: body.received_at });
    await worker.close();
    expect(await redriveReceipts(connectionOf(knex), [receipt_id])).toEqual([receipt_id]);
    expect(await ask('rc-4')).toMatchObject({ status: 'received', receipt_id });

    await stopPoisoning(knex);
    const next = await stack.worker();
    expect(await becomes('rc-4', 'written')).toMatchObject({ receipt_id, order_id: expect.any(Number) });
    await next.close();
    await poisonOrders(knex);
  });

  test('is known for an order whose receipt is past its retention', async () => {
    const worker = await stack.worker();
    const { receipt_id } = await send('rc-5', {}, { Prefer: 'wait=30' });
    const written = await becomes('rc-5', 'written');
    await worker.close();
    const changedAt = '2100-01-02T03:04:05.678Z';
    await noteChangedDelivery(written.order_id as number, uuidOf(Date.parse(changedAt)));
    await knex('receipts').where({ receipt_id }).delete();
    expect(await ask('rc-5')).toMatchObject({
      status: 'duplicate',
      order_id: written.order_id,
      received_at: changedAt,
    });
  });

  const noteChangedDelivery = (order_id: number, receipt_id: string) =>
    knex('changed_deliveries').insert({ account_id: account.id, order_id, receipt_id }).onConflict().ignore();
});

test('is never never_seen after a 202, even while receipts change', async () => {
  await poisonOrders(knex);
  const busy = await stack.account();
  const worker = await stack.worker({ RETRY_ATTEMPTS: '2' });
  const accepted = new Set<string>();
  let left = 240;
  const sender = async () => {
    for (let number = left--; number > 0; number = left--) {
      // Some orders fail until they are dead, and some are changed deliveries.
      const id = `load-${number % 7 === 0 ? number + 1 : number}`;
      const order_number = number % 10 === 3 ? `poison ${number}` : null;
      const { status } = await intake.api.order(busy, { source_order_id: id, order_number });
      expect(status).toBe(202);
      accepted.add(id);
    }
  };
  let areSent = false;
  const sendAll = async () => {
    await Promise.all([sender(), sender(), sender()]);
    await stopPoisoning(knex);
    areSent = true;
  };
  const redrive = async () =>
    redriveReceipts(connectionOf(knex), await knex('dead_letters').where({ account_id: busy.id }).pluck('receipt_id'));
  const isEachWritten = async () => {
    if (accepted.size === 0) return false;
    const { status, body } = await intake.api.reconcile(busy, [...accepted]);
    expect(status).toBe(200);
    const results: { source_order_id: string; status: string; order_id: number | null }[] = body.results;
    expect(results.filter((result) => result.status === 'never_seen')).toEqual([]);
    return results.every(({ order_id }) => order_id !== null);
  };
  const untilWritten = until(
    'there is an order for each',
    async () => {
      const isLast = areSent;
      // Together, as a redrive also moves receipts.
      const [isComplete] = await Promise.all([isEachWritten(), redrive()]);
      return isLast && isComplete;
    },
    { everyMs: 1 },
  );
  await Promise.all([sendAll(), untilWritten]);
  await worker.close();
});

test('a long backlog gets a reply with the worker stopped', async () => {
  const backlog = 2000;
  const database = openDatabase({ url: stack.database.url, poolSize: 1, prepared: false });
  const own = await stack.account();
  const receipts = Array.from({ length: backlog }, (_, index) =>
    newReceipt({ accountId: own.id, sourceOrderId: `backlog-${index}` }),
  );
  for (let start = 0; start < backlog; start += 500)
    await recordReceipts(database, randomUUIDv7(), 3_600_000, receipts.slice(start, start + 500));
  await closeDatabase(database);
  const asked = Array.from({ length: 1000 }, (_, index) => `backlog-${Math.floor((index * backlog) / 900)}`);
  const { status, body } = await intake.api.reconcile(own, asked);
  expect(status).toBe(200);
  const seen = body.results.filter((result: { status: string }) => result.status === 'received');
  expect(seen).toHaveLength(900);
});

describeWith('redis-server')('with Redis stopped', () => {
  test('reconcile replies and knows newly accepted orders', async () => {
    const redis = await startFaultyRedis();
    const ownStack = await startStack('redis', { queue: redis });
    const { api } = await ownStack.intake();
    const own = await ownStack.account();
    await redis.stop();
    expect((await api.order(own, { source_order_id: 'no redis' })).status).toBe(202);
    const { status, body } = await api.reconcile(own, ['no redis', 'never']);
    expect(status).toBe(200);
    expect(body.results).toMatchObject([{ status: 'received' }, NEVER_SEEN]);
  });
});
