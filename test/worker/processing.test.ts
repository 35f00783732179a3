import { randomUUID as uuid } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  claimAlone,
  claimReceipts,
  closeDatabase,
  openDatabase,
  recordReceipts,
  redriveReceipts,
} from '@orders/database';
import { PREPARED } from '../harness/database.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { type RunningIntake, type RunningWorker, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** Makes Postgres refuse orders whose number says so, as no payload of a sender can. */
const POISON = `
create function refuse_poison() returns trigger language plpgsql as $$
begin
  if new.order_number like 'poison%' then raise exception 'refused: %', new.customer_phone using errcode = '23514', constraint = 'no_poison'; end if;
  return new;
end $$;
create trigger refuse_poison before insert on orders for each row execute function refuse_poison()`;

describe.each(QUEUE_KINDS)('processing, the queue on %s', (kind) => {
  let stack: Stack;
  let intake: RunningIntake;
  let worker: RunningWorker;
  let account: TestAccount;
  let serial = 0;

  beforeAll(async () => {
    stack = await startStack(kind);
    intake = await stack.intake();
    worker = await stack.worker({ RETRY_ATTEMPTS: '3' });
    account = await stack.account();
    await stack.database.knex.raw(POISON);
  });
  afterAll(() => stack.close());
  beforeEach(() => {
    serial += 1;
  });

  const order = (name: string, rest: object = {}) => ({ source_order_id: `${name}-${serial}`, ...rest });
  const send = async (payload: object) => (await intake.api.order(account, payload)).body.receipt_id as string;
  const final = async (receiptId: string) => (await intake.api.final(account, receiptId)).body;
  const row = (receiptId: string) => stack.database.knex('receipts').where({ receipt_id: receiptId }).first();
  const outboxOf = (receiptId: string) => stack.database.knex('outbox').whereRaw('? = any(receipt_ids)', [receiptId]);

  test('received → normalized → written keeps the time of each step and leaves nothing behind', async () => {
    const receiptId = await send(order('ok', { customer: { phone: '0501234567' } }));
    const { status, order_id } = await final(receiptId);
    expect(status).toBe('written');
    const receipt = await row(receiptId);
    expect(receipt.received_at <= receipt.normalized_at && receipt.normalized_at <= receipt.updated_at).toBe(true);
    expect(receipt).toMatchObject({ lease_id: null, lease_expires_at: null, crashes: 0, history: null });
    const written = await stack.database.knex('orders').where({ order_id }).first();
    expect(written).toMatchObject({
      receipt_id: receiptId,
      review_state: 'needs_review',
      channel: 'rest',
      customer_phone: '+971501234567',
      received_at: receipt.received_at,
    });
    await until('the outbox row is gone', async () => (await outboxOf(receiptId)).length === 0);
  });

  test('a poison order fails, is tried again and ends dead, alone; its neighbours are written', async () => {
    const payloads = Array.from({ length: 20 }, (_, index) =>
      order(`n${index}`, index === 7 ? { order_number: 'poison', customer: { phone: '+971501112223' } } : {}),
    );
    const receiptIds = await Promise.all(payloads.map(send));
    const finals = await Promise.all(receiptIds.map(final));
    expect(finals.map((it) => it.status)).toEqual(payloads.map((_, index) => (index === 7 ? 'dead' : 'written')));
    const dead = finals[7];
    expect(dead).toMatchObject({
      attempts: 3,
      order_id: null,
      next_attempt_at: null,
      error: { code: 'write_refused' },
    });
    const { history } = await row(dead.receipt_id);
    expect(history).toHaveLength(3);
    expect(history[0]).toMatchObject({ attempt: 1, code: 'write_refused', sqlstate: '23514', constraint: 'no_poison' });
    expect(new Date(history[0].failed_at) < new Date(history[1].normalized_at)).toBe(true);
    expect(finals.map((it) => it.attempts)).toEqual(payloads.map((_, index) => (index === 7 ? 3 : 1)));
    for (const receiptId of receiptIds)
      await until('the outbox row is gone', async () => (await outboxOf(receiptId)).length === 0);
    // The database's message quoted the phone; nothing of ours may.
    expect(worker.log.text() + JSON.stringify(history)).not.toContain('971501112223');
  });

  test('failed says when the next attempt is, and is written once the cause is gone', async () => {
    await worker.close();
    const slow = await stack.worker({ RETRY_BASE: '1500ms', RETRY_CAP: '1500ms' });
    const receiptId = await send(order('later', { order_number: 'poison for a while' }));
    const failed = await until('a failed attempt', async () => {
      const { body } = await intake.api.status(account, receiptId);
      return body.status === 'failed' && body;
    });
    expect(failed).toMatchObject({ attempts: 1, error: { code: 'write_refused', detail: expect.any(String) } });
    expect(new Date(failed.next_attempt_at) > new Date(failed.updated_at)).toBe(true);
    await stack.database.knex.raw('alter table orders disable trigger refuse_poison');
    expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 2, error: null });
    await stack.database.knex.raw('alter table orders enable trigger refuse_poison');
    await slow.close();
    worker = await stack.worker({ RETRY_ATTEMPTS: '3' });
  });

  test('dead → received: redriven once, with all its attempts; a second redrive changes nothing', async () => {
    const receiptId = await send(order('dead', { order_number: 'poison' }));
    expect((await final(receiptId)).status).toBe('dead');
    await stack.database.knex.raw('alter table orders disable trigger refuse_poison');
    const outcomes = await Promise.all([1, 2, 3].map(() => redriveReceipts(stack.database.knex, [receiptId])));
    expect(outcomes.flat()).toEqual([receiptId]);
    const redriven = await until('written', async () => {
      const { body } = await intake.api.status(account, receiptId);
      return body.status === 'written' && body;
    });
    expect(redriven).toMatchObject({ attempts: 1, error: null });
    await stack.database.knex.raw('alter table orders enable trigger refuse_poison');
  });

  test('a redriven receipt whose order exists by then ends duplicate', async () => {
    const poisoned = await send(order('twice', { order_number: 'poison' }));
    expect((await final(poisoned)).status).toBe('dead');
    const sound = await final(await send(order('twice')));
    expect(sound.status).toBe('written');
    await redriveReceipts(stack.database.knex, [poisoned]);
    const duplicate = await until('duplicate', async () => {
      const { body } = await intake.api.status(account, poisoned);
      return body.status === 'duplicate' && body;
    });
    expect(duplicate.duplicate_of).toEqual({ receipt_id: sound.receipt_id, order_id: sound.order_id });
  });

  test('within one batch the first received whose order commits wins', async () => {
    await worker.close();
    // An intake without a producer, so that the one job there is can be made here, as a burst would make it.
    const mute = await stack.intake({ QUEUE_URL: 'redis://127.0.0.1:9' });
    const sendMute = async (payload: object) => (await mute.api.order(account, payload)).body.receipt_id as string;
    const first = await sendMute(order('race', { order_number: 'poison' }));
    const second = await sendMute(order('race', { order_number: 'second' }));
    const third = await sendMute(order('race', { order_number: 'third' }));
    await stack.database.knex('outbox').delete();
    await stack.database
      .knex('outbox')
      .insert({ batch_id: first, receipt_ids: [third, second, first], due_at: new Date(0) });
    worker = await stack.worker({ RETRY_ATTEMPTS: '3' });
    expect((await final(second)).status).toBe('written');
    for (const other of [first, third]) {
      expect(await final(other)).toMatchObject({ status: 'duplicate', duplicate_of: { receipt_id: second } });
    }
  });

  test('an outage of Postgres costs no attempt', async () => {
    const { knex } = stack.database;
    // 55P03, lock not available, is infrastructure.
    await knex.raw(`
      create function be_busy() returns trigger language plpgsql as $$ begin raise lock_not_available; end $$;
      create trigger be_busy before insert on orders for each row execute function be_busy()`);
    const receiptId = await send(order('outage'));
    await until('the outage is met', async () =>
      worker.log.lines.some((line) => /^Postgres unavailable/.test(String(line.message))),
    );
    expect((await row(receiptId)).attempts).toBe(0);
    await knex.raw('drop trigger be_busy on orders');
    expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 1 });
    expect(await row(receiptId)).toMatchObject({ crashes: 0, runs_alone: false, history: null });
  });

  test('a batch that fails while Postgres is available is logged as failed, not as an outage, and costs no attempt', async () => {
    const { knex } = stack.database;
    // 42501, insufficient privilege, as with a missing grant.
    await knex.raw(`
      create function refuse_claim() returns trigger language plpgsql as $$ begin raise insufficient_privilege; end $$;
      create trigger refuse_claim before update on receipts for each row execute function refuse_claim()`);
    const seen = worker.log.lines.length;
    const receiptId = await send(order('refused claim'));
    const since = () => worker.log.lines.slice(seen);
    await until('the batch fails', async () => since().some(({ message }) => /^batch failed/.test(String(message))));
    expect(since().find(({ message }) => /^batch failed/.test(String(message)))).toMatchObject({
      level: 'error',
      message: 'batch failed; wake-ups will be retried',
      error: { code: '42501', at: expect.any(Array) },
    });
    expect(since().filter(({ message }) => /^Postgres unavailable/.test(String(message)))).toEqual([]);
    await knex.raw('drop trigger refuse_claim on receipts');
    expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 1 });
  });

  test('one receipt whose write is cut off each time does not keep its neighbours waiting, and loses no attempt', async () => {
    const { knex } = stack.database;
    await worker.close();
    const mute = await stack.intake({ QUEUE_URL: 'redis://127.0.0.1:9' });
    // 57014, query canceled: infrastructure by its class, and yet only ever this one.
    await knex.raw(`
      create function cut_off() returns trigger language plpgsql as $$ begin
        if new.order_number = 'cut off' then raise query_canceled; end if; return new; end $$;
      create trigger cut_off before insert on orders for each row execute function cut_off()`);
    const payloads = Array.from({ length: 8 }, (_, index) =>
      order(`c${index}`, index === 3 ? { order_number: 'cut off' } : {}),
    );
    const receiptIds = await Promise.all(
      payloads.map(async (payload) => (await mute.api.order(account, payload)).body.receipt_id),
    );
    worker = await stack.worker({ RETRY_ATTEMPTS: '3' });
    for (const [index, receiptId] of receiptIds.entries()) {
      if (index !== 3) expect((await final(receiptId)).status).toBe('written');
    }
    expect(await row(receiptIds[3])).toMatchObject({ attempts: 0 });
    await knex.raw('drop trigger cut_off on orders');
    expect(await final(receiptIds[3])).toMatchObject({ status: 'written', attempts: 1 });
  });

  test('a receipt whose body is gone fails alone', async () => {
    await worker.close();
    const gone = await send(order('gone'));
    const { batch_id } = await row(gone);
    await stack.database.knex('receipt_payloads').where({ batch_id }).delete();
    const others = await Promise.all(Array.from({ length: 10 }, (_, index) => send(order(`there-${index}`))));
    worker = await stack.worker({ RETRY_ATTEMPTS: '3' });
    for (const receiptId of others) expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 1 });
    expect(await final(gone)).toMatchObject({ status: 'dead', error: { code: 'unexpected_error' } });
  });

  test('of many with one source_order_id that wait together exactly one is written, the first received', async () => {
    await worker.close();
    const first = await send(order('same'));
    const others = await Promise.all(Array.from({ length: 30 }, () => send(order('same'))));
    const neighbour = await send(order('neighbour'));
    worker = await stack.worker({ RETRY_ATTEMPTS: '3' });
    const { status, order_id } = await final(first);
    expect(status).toBe('written');
    for (const receiptId of others) {
      expect(await final(receiptId)).toMatchObject({
        status: 'duplicate',
        attempts: 1,
        duplicate_of: { receipt_id: first, order_id },
      });
    }
    expect(await final(neighbour)).toMatchObject({ status: 'written', attempts: 1 });
    expect(await outboxOf(first)).toEqual([]);
  });

  test('a receipt whose wake-up was lost gets one from the sweeper', async () => {
    const receiptId = await send(order('unrung'));
    await final(receiptId);
    const silent = `${receiptId.slice(0, -4)}0000`;
    const database = openDatabase({ url: stack.database.url, poolSize: 1, prepared: PREPARED });
    const unrung = order('silent');
    await recordReceipts(database, silent, 0, [
      {
        receiptId: silent,
        accountId: account.id,
        channel: 'rest',
        sourceOrderId: unrung.source_order_id,
        idempotencyKey: null,
        body: Buffer.from(JSON.stringify(unrung)),
      },
    ]);
    await closeDatabase(database);
    expect((await final(silent)).status).toBe('written');
  });

  test('a receipt whose worker crashed is claimed alone when its lease expires, and loses no attempt', async () => {
    await worker.close();
    const receiptId = await send(order('lapsed'));
    await stack.database
      .knex('receipts')
      .where({ receipt_id: receiptId })
      .update({
        state: 'normalized',
        lease_id: receiptId,
        normalized_at: new Date(),
        lease_expires_at: stack.database.knex.raw("now() + interval '400 ms'"),
      });
    worker = await stack.worker({ RETRY_ATTEMPTS: '3' });
    expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 1 });
    const receipt = await row(receiptId);
    expect(receipt).toMatchObject({ runs_alone: true, crashes: 0 });
    expect(receipt.history).toMatchObject([{ lease_lapsed_at: expect.any(String) }]);
  });

  test('three crashes alone: dead, worker_crashed, and said in the log', async () => {
    await worker.close();
    const receiptId = await send(order('killer', { order_number: 'never got so far' }));
    const database = openDatabase({ url: stack.database.url, poolSize: 1, prepared: PREPARED });
    // Simulates a worker that claims it and crashes: the lease expires.
    const crash = async () => {
      const claimed =
        (await claimReceipts(database, [receiptId], uuid(), 1))[0] ??
        (await claimAlone(database, receiptId, uuid(), 1, 3));
      await new Promise((resolve) => setTimeout(resolve, 5));
      return claimed;
    };
    for (const crashes of [0, 0, 1, 2]) {
      expect(await crash()).toMatchObject({ receiptId });
      expect(await row(receiptId)).toMatchObject({ state: 'normalized', crashes });
    }
    worker = await stack.worker({ RETRY_ATTEMPTS: '3' });
    expect(await final(receiptId)).toMatchObject({ status: 'dead', attempts: 0, error: { code: 'worker_crashed' } });
    expect(worker.log.lines).toContainEqual(expect.objectContaining({ level: 'error', receipt_id: receiptId }));
    expect((await row(receiptId)).history).toHaveLength(4);
    await closeDatabase(database);
  });
});
