import { beforeAll, describe, expect, test } from '@jest/globals';
import { untilReady } from '@orders/test-services/apps.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import type { Knex } from 'knex';
import type { Reply } from '../harness/api.ts';
import { closeBarrier, hold, installBarriers, lockTables, whoWait } from '../harness/barriers.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { startApp } from '../harness/processes.ts';
import { describeLarge } from '../harness/programs.ts';
import { describeQueues, QUEUE_KIND } from '../harness/queue.ts';
import { expectSettled, NO_FAILED_ATTEMPT, written } from '../harness/settled.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { countStored } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

type Result = {
  receipt_id: string;
  duplicate?: true;
  payload_mismatch?: true;
  kept_as?: string;
  error?: { code: string };
};

const order = (name: string, more = {}) => JSON.stringify({ source_order_id: name, ...more });
const orders = (name: string, count: number) => Array.from({ length: count }, (_, index) => order(`${name} ${index}`));
const lines = (texts: string[]) => Buffer.from(texts.join('\n'));
const resultsOf = ({ body }: Reply): Result[] => body.results;
const receiptIdsOf = (reply: Reply) => resultsOf(reply).map((result) => result.receipt_id);

describe('a batch under an idempotency key', () => {
  let intakes: [RunningIntake, RunningIntake];
  let account: TestAccount;

  const { stack } = useStack();

  beforeAll(async () => {
    intakes = [await stack.intake(), await stack.intake()];
    await installBarriers(stack.database.knex);
  });

  const send = (intake: RunningIntake, texts: string[], key: string) =>
    intake.api.batch(account, lines(texts), { 'Idempotency-Key': key });

  async function expectEnds(receiptIds: string[]): Promise<void> {
    const worker = await stack.worker();
    await expectSettled(stack, account, written(receiptIds));
    await worker.close();
  }

  test('is replayed as lines or as an array and through another intake, with the same receipts and nothing stored', async () => {
    account = await stack.account();
    const texts = orders('again', 600);
    const first = await send(intakes[0], texts, 'again');
    const receiptIds = receiptIdsOf(first);
    expect(new Set(receiptIds).size).toBe(600);
    const before = await countStored(stack.database.knex);
    for (const again of [
      await send(intakes[1], texts, 'again'),
      await intakes[0].api.batch(account, `[${texts.join(' , ')}]`, { 'Idempotency-Key': 'again' }),
    ]) {
      expect(again.status).toBe(202);
      expect(again.body).toMatchObject({ accepted: 600, refused: 0 });
      expect(resultsOf(again)).toEqual(receiptIds.map((receipt_id) => ({ receipt_id, duplicate: true })));
    }
    expect(await countStored(stack.database.knex)).toBe(before);
    await expectEnds(receiptIds);
  });

  test('stores only the corrected order, at its position, when the batch is sent again with it', async () => {
    account = await stack.account();
    const [first, , third] = orders('corrected', 3) as [string, string, string];
    const before = await send(intakes[0], [first, '{"source_order_id":', third], 'corrected');
    expect(resultsOf(before)[1]?.error?.code).toBe('malformed_body');
    const [one, , three] = receiptIdsOf(before) as [string, string, string];
    const after = await send(intakes[1], [first, order('corrected 1'), third], 'corrected');
    const two = receiptIdsOf(after)[1] as string;
    expect(resultsOf(after)).toEqual([
      { receipt_id: one, duplicate: true },
      { receipt_id: two },
      { receipt_id: three, duplicate: true },
    ]);
    await expectEnds([one, two, three]);
  });

  test('keeps the receipt of a changed order and keeps the changed delivery separately', async () => {
    account = await stack.account();
    const texts = orders('other', 3);
    const receiptIds = receiptIdsOf(await send(intakes[0], texts, 'other'));
    await expectEnds(receiptIds);
    const spelledAgain = '{ "source_order_id" : "other 2" }';
    const again = await send(intakes[0], [texts[0] as string, order('other 1', { total: 7 }), spelledAgain], 'other');
    expect(again.body).toMatchObject({ accepted: 2, mismatched: 1, refused: 0 });
    const kept_as = resultsOf(again)[1]?.kept_as as string;
    expect(resultsOf(again)).toEqual([
      { receipt_id: receiptIds[0], duplicate: true },
      { receipt_id: receiptIds[1], duplicate: true, payload_mismatch: true, kept_as },
      { receipt_id: receiptIds[2], duplicate: true },
    ]);
    const worker = await stack.worker();
    await expectSettled(stack, account, { ...written(receiptIds), [kept_as]: 'duplicate' });
    await worker.close();
  });

  test('may have a key of the maximum length, and empty lines do not count as positions', async () => {
    account = await stack.account();
    const key = 'k'.repeat(255);
    const texts = orders('place', 2);
    const receiptIds = receiptIdsOf(await send(intakes[0], texts, key));
    const again = await send(intakes[0], [texts[0] as string, '', ' ', texts[1] as string], key);
    expect(resultsOf(again)).toEqual(receiptIds.map((receipt_id) => ({ receipt_id, duplicate: true })));
    // A single order has a different key, because no client can send a key with a space.
    const single = await intakes[0].api.order(account, order('place single'), { 'Idempotency-Key': key });
    expect(single.body).toEqual({ receipt_id: single.body.receipt_id });
    await expectEnds([...receiptIds, single.body.receipt_id]);
  });

  test('is unknown to another account', async () => {
    account = await stack.account();
    const mine = await send(intakes[0], orders('mine', 2), 'shared');
    account = await stack.account();
    const theirs = await send(intakes[0], orders('mine', 2), 'shared');
    expect(resultsOf(theirs)).toEqual(receiptIdsOf(theirs).map((receipt_id) => ({ receipt_id })));
    expect(receiptIdsOf(theirs)).not.toEqual(receiptIdsOf(mine));
  });

  test('gets one receipt for each order when two intakes receive it at the same time', async () => {
    const { knex } = stack.database;
    account = await stack.account();
    const texts = orders('moment', 700);
    const gate = await closeBarrier(knex, 'keys taken');
    const first = send(intakes[0], texts, 'moment');
    await whoWait(knex, 1, 'advisory');
    const second = send(intakes[1], texts, 'moment');
    await whoWait(knex, 1, 'transactionid');
    await gate.release();
    const replies = await Promise.all([first, second]);
    for (const { status, body } of replies) expect([status, body.accepted]).toEqual([202, 700]);
    expect(receiptIdsOf(replies[0])).toEqual(receiptIdsOf(replies[1]));
    // Either intake may insert the keys first, but each order is new in exactly one of the two replies.
    const news = replies.map((reply) => resultsOf(reply).map(({ duplicate }) => !duplicate));
    expect(news[0]?.map((isNew, index) => isNew !== news[1]?.[index])).toEqual(Array(700).fill(true));
    expect(news[0]?.slice(0, 500)).toEqual(Array(500).fill(true));
    await expectEnds(receiptIdsOf(replies[0]));
  });

  test('causes no deadlock and one receipt per key when many copies arrive at two intakes with slow inserts', async () => {
    account = await stack.account();
    await stack.database.knex.raw(`
      create function be_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.002); return new; end $$;
      create trigger be_slow before insert on idempotency_keys for each row
      when (new.idempotency_key like 'crowd-%') execute function be_slow()`);
    const texts = Array.from({ length: 4 }, (_, batch) => orders(`crowd ${batch}`, 60));
    const batchOf = (index: number) => (index >> 1) % 4;
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        send(intakes[index % 2] as RunningIntake, texts[batchOf(index)] as string[], `crowd-${batchOf(index)}`),
      ),
    );
    expect(replies.map(({ status, body }) => [status, body.accepted])).toEqual(Array(16).fill([202, 60]));
    for (const [index, reply] of replies.entries()) {
      expect(receiptIdsOf(reply)).toEqual(receiptIdsOf(replies[batchOf(index) * 2] as Reply));
    }
    const created = replies.flatMap(resultsOf).filter(({ duplicate }) => !duplicate);
    expect(created).toHaveLength(240);
    await expectEnds(created.map(({ receipt_id }) => receipt_id));
  });

  test('gets 503 if its second statement fails, and a retry returns the stored orders and stores the rest', async () => {
    const { knex } = stack.database;
    account = await stack.account();
    const texts = orders('half', 900);
    // The first statement stores 500 orders. The backend of the second one is terminated before its commit.
    await knex.raw(`
      create function hold_half() returns trigger language plpgsql set lock_timeout = 0 as
      $$ begin perform pg_advisory_xact_lock_shared(77); return null; end $$;
      create trigger hold_half after insert on receipts for each row
      when (new.source_order_id = 'half 899') execute function hold_half()`);
    const held = await hold(knex, 'select pg_advisory_xact_lock(77)');
    const sending = send(intakes[0], texts, 'half');
    const [backend] = await whoWait(knex, 1, 'advisory');
    await until('the first statement is committed', async () => (await countReceipts(knex, account)) === 500);
    await knex.raw('select pg_terminate_backend(?)', [backend as number]);
    expect(await sending).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
    await held.release();
    const again = await send(intakes[1], texts, 'half');
    expect(again.body).toMatchObject({ accepted: 900, refused: 0 });
    expect(resultsOf(again).filter(({ duplicate }) => duplicate)).toHaveLength(500);
    await expectEnds(receiptIdsOf(again));
  });
});

async function countReceipts(knex: Knex, { id }: TestAccount): Promise<number> {
  return Number((await knex('receipts').where({ account_id: id }).count('* as receipts').first())?.receipts);
}

describeLarge('killed with SIGKILL during a batch:', () => {
  describeQueues('an intake, the queue on %s', (kind) => {
    const { stack } = useStack({ queue: kind });

    test('causes no duplicate: after a retry at another intake each order is written once', async () => {
      const { knex } = stack.database;
      const account = await stack.account();
      const texts = orders('killed', 1000);
      const [port, adminPort] = [await freePort(), await freePort()];
      const settings = { PORT: String(port), ADMIN_PORT: String(adminPort) };
      const killedIntake = await startApp('intake', { ...stack.env, ...settings });
      await untilReady(adminPort);
      const request = (url: string) =>
        fetch(`${url}/ingest/orders/batch`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${account.key}`,
            'Content-Type': 'application/x-ndjson',
            'Idempotency-Key': 'killed',
          },
          body: lines(texts),
        });
      // Half of the batch is committed and the other half waits for a lock when the process is killed.
      await knex.raw(`
      create function hold_last() returns trigger language plpgsql set lock_timeout = 0 as
      $$ begin perform pg_advisory_xact_lock_shared(78); return null; end $$;
      create trigger hold_last after insert on receipts for each row
      when (new.source_order_id = 'killed 999') execute function hold_last()`);
      const held = await hold(knex, 'select pg_advisory_xact_lock(78)');
      const cut = request(`http://127.0.0.1:${port}`).then(
        ({ status }) => status,
        () => 'cut off',
      );
      await until('half of it is committed', async () => (await countReceipts(knex, account)) === 500);
      await whoWait(knex, 1, 'advisory');
      await killedIntake.stop('SIGKILL');
      expect(await cut).toBe('cut off');
      const otherIntake = await stack.intake();
      const again = otherIntake.api.batch(account, lines(texts), { 'Idempotency-Key': 'killed' });
      await held.release();
      const reply = await again;
      expect(reply.body).toMatchObject({ accepted: 1000, refused: 0 });
      expect(resultsOf(reply).filter(({ duplicate }) => duplicate).length).toBeGreaterThanOrEqual(500);
      await stack.worker();
      await expectSettled(stack, account, written(receiptIdsOf(reply)));
    });
  });
});

describeLarge('Postgres killed during batches', () => {
  let postgres: FaultyPostgres;
  let stack: Stack;
  beforeAll(async () => {
    postgres = await startFaultyPostgres();
    stack = await startStack(QUEUE_KIND, { database: postgres });
  });

  test('causes 503, and after retries each order is written once', async () => {
    const { knex } = postgres;
    const account = await stack.account();
    const intake = await stack.intake();
    await stack.worker();
    const batches = Array.from({ length: 6 }, (_, batch) => orders(`outage ${batch}`, 400));
    const send = (batch: number) =>
      intake.api.batch(account, lines(batches[batch] as string[]), { 'Idempotency-Key': `outage-${batch}` });
    const table = await lockTables(knex, 'idempotency_keys');
    const sending = batches.map((_, batch) => send(batch));
    await whoWait(knex, 1, 'relation');
    await postgres.kill();
    const statuses = (await Promise.all(sending)).map(({ status }) => status);
    expect(statuses).toEqual(Array(6).fill(503));
    await table.release().catch(() => {});
    await postgres.start();
    const replies = await Promise.all(
      batches.map((_, batch) =>
        until('it is accepted', async () => {
          const reply = await send(batch);
          return reply.status === 202 && reply;
        }),
      ),
    );
    for (const { body } of replies) expect(body).toMatchObject({ accepted: 400, refused: 0 });
    const receiptIds = replies.flatMap(receiptIdsOf);
    expect(new Set(receiptIds).size).toBe(2400);
    const rows = await until('each is final', async () => {
      const found = await knex('receipts').where({ account_id: account.id });
      return found.every(({ state }) => state === 'written') && found;
    });
    expect(new Set(rows.map(({ receipt_id }) => receipt_id))).toEqual(new Set(receiptIds));
    for (const { history } of rows) expect(history ?? []).toEqual(NO_FAILED_ATTEMPT);
    expect(await knex('orders').where({ account_id: account.id })).toHaveLength(2400);
  });
});
