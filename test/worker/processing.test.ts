import { randomUUID as uuid } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { until } from '@orders/test-services/until.ts';
import { claimAlone, claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import { PREPARED } from '../harness/database.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { describeQueues } from '../harness/queue.ts';
import type { RunningWorker } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

/** Makes Postgres reject orders with a given number. No payload of a sender can cause this. */
const POISON = `
create function refuse_poison() returns trigger language plpgsql as $$
begin
  if new.order_number like 'poison%' then raise exception 'refused: %', new.customer_phone using errcode = '23514', constraint = 'no_poison'; end if;
  return new;
end $$;
create trigger refuse_poison before insert on orders for each row execute function refuse_poison()`;

const THREE_ATTEMPTS = { RETRY_ATTEMPTS: '3' };

describeQueues('processing, the queue on %s', (kind) => {
  const { stack, knex, db, api, account } = useStack({ queue: kind, intake: true, account: true });
  let worker: RunningWorker;
  let serial = 0;

  beforeAll(async () => {
    worker = await stack.worker(THREE_ATTEMPTS);
    await knex.raw(POISON);
  });
  beforeEach(() => {
    serial += 1;
  });

  const order = (name: string, rest: object = {}) => ({ source_order_id: `${name}-${serial}`, ...rest });
  const send = async (payload: object) => (await api.order(account, payload)).body.receipt_id as string;
  const final = async (receiptId: string) => (await api.final(account, receiptId)).body;
  const row = (receiptId: string) => knex('receipts').where({ receipt_id: receiptId }).first();
  /** Ends the effect of a trigger. Dropping it takes a lock on its table, which can deadlock with the worker. */
  const disarm = (trigger: string) =>
    knex.raw(`create or replace function ${trigger}() returns trigger language plpgsql as $$ begin return new; end $$`);
  const outboxOf = (receiptId: string) => knex('outbox').whereRaw('? = any(receipt_ids)', [receiptId]);

  test('received → normalized → written stores the time of each step and leaves nothing in the outbox', async () => {
    const receiptId = await send(order('ok', { customer: { phone: '0501234567' } }));
    const { status, order_id } = await final(receiptId);
    expect(status).toBe('written');
    const receipt = await row(receiptId);
    const times = [receipt.received_at, receipt.normalized_at, receipt.updated_at].map(Number);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(receipt).toMatchObject({ lease_id: null, lease_expires_at: null, crashes: 0, history: null });
    const written = await knex('orders').where({ order_id }).first();
    expect(written).toMatchObject({
      receipt_id: receiptId,
      review_state: 'needs_review',
      channel: 'rest',
      customer_phone: '+971501234567',
      received_at: receipt.received_at,
    });
    await until('the outbox row is gone', async () => (await outboxOf(receiptId)).length === 0);
  });

  test('a poison order is retried and ends dead, and the other orders of its batch are written', async () => {
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
    expect(Date.parse(history[0].failed_at)).toBeLessThanOrEqual(Date.parse(history[1].normalized_at));
    expect(finals.map((it) => it.attempts)).toEqual(payloads.map((_, index) => (index === 7 ? 3 : 1)));
    for (const receiptId of receiptIds)
      await until('the outbox row is gone', async () => (await outboxOf(receiptId)).length === 0);
    // The message of Postgres quoted the phone number, so it must not appear anywhere.
    expect(worker.log.text() + JSON.stringify(history)).not.toContain('971501112223');
  });

  test('a failed receipt states its next attempt and is written after the cause is removed', async () => {
    await worker.close();
    const slow = await stack.worker({ RETRY_BASE: '1h', RETRY_CAP: '1h' });
    const receiptId = await send(order('later', { order_number: 'poison for a while' }));
    const failed = await until('a failed attempt', async () => {
      const { body } = await api.status(account, receiptId);
      return body.status === 'failed' && body;
    });
    expect(failed).toMatchObject({ attempts: 1, error: { code: 'write_refused', detail: expect.any(String) } });
    expect(Date.parse(failed.next_attempt_at)).toBeGreaterThan(Date.parse(failed.updated_at));
    await knex.raw('alter table orders disable trigger refuse_poison');
    await until(
      'its outbox row is due with it',
      async () => (await outboxOf(receiptId))[0]?.due_at > new Date(Date.now() + 600_000),
    );
    const now = knex.fn.now();
    await knex('receipts').where({ receipt_id: receiptId }).update({ next_attempt_at: now });
    await outboxOf(receiptId).update({ due_at: now });
    expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 2, error: null });
    await knex.raw('alter table orders enable trigger refuse_poison');
    await slow.close();
    worker = await stack.worker(THREE_ATTEMPTS);
  });

  test('a redrive moves dead to received with all attempts, and a second redrive changes nothing', async () => {
    const receiptId = await send(order('dead', { order_number: 'poison' }));
    expect((await final(receiptId)).status).toBe('dead');
    await knex.raw('alter table orders disable trigger refuse_poison');
    const outcomes = await Promise.all([1, 2, 3].map(() => redriveReceipts(db, [receiptId])));
    expect(outcomes.flat()).toEqual([receiptId]);
    const redriven = await until('written', async () => {
      const { body } = await api.status(account, receiptId);
      return body.status === 'written' && body;
    });
    expect(redriven).toMatchObject({ attempts: 1, error: null });
    await knex.raw('alter table orders enable trigger refuse_poison');
  });

  test('a redriven receipt whose order exists by then ends as a duplicate', async () => {
    const poisoned = await send(order('twice', { order_number: 'poison' }));
    expect((await final(poisoned)).status).toBe('dead');
    const writtenOrder = await final(await send(order('twice')));
    expect(writtenOrder.status).toBe('written');
    await redriveReceipts(db, [poisoned]);
    const duplicate = await until('duplicate', async () => {
      const { body } = await api.status(account, poisoned);
      return body.status === 'duplicate' && body;
    });
    expect(duplicate.duplicate_of).toEqual({ receipt_id: writtenOrder.receipt_id, order_id: writtenOrder.order_id });
  });

  test('within one batch the first received order that can be written wins', async () => {
    await worker.close();
    // An intake without a queue, so that this test creates the only job, as a burst would.
    const intakeWithoutQueue = await stack.intake({ QUEUE_URL: 'redis://127.0.0.1:9' });
    const sendWithoutWakeUp = async (payload: object) =>
      (await intakeWithoutQueue.api.order(account, payload)).body.receipt_id as string;
    const first = await sendWithoutWakeUp(order('race', { order_number: 'poison' }));
    const second = await sendWithoutWakeUp(order('race', { order_number: 'second' }));
    const third = await sendWithoutWakeUp(order('race', { order_number: 'third' }));
    await knex('outbox').delete();
    await knex('outbox').insert({
      batch_id: first,
      receipt_ids: [third, second, first],
      account_ids: [account.id],
      due_at: new Date(0),
    });
    worker = await stack.worker(THREE_ATTEMPTS);
    expect((await final(second)).status).toBe('written');
    for (const other of [first, third]) {
      expect(await final(other)).toMatchObject({ status: 'duplicate', duplicate_of: { receipt_id: second } });
    }
  });

  test('an outage of Postgres uses up no attempt', async () => {
    // 53100, disk full, is infrastructure.
    await knex.raw(`
      create function be_full() returns trigger language plpgsql as $$ begin raise disk_full; end $$;
      create trigger be_full before insert on orders for each row execute function be_full()`);
    const receiptId = await send(order('outage'));
    await until('the worker logs the outage', async () =>
      worker.log.lines.some((line) => /^Postgres unavailable/.test(String(line.message))),
    );
    expect((await row(receiptId)).attempts).toBe(0);
    await disarm('be_full');
    expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 1 });
    expect(await row(receiptId)).toMatchObject({ crashes: 0, runs_alone: false, history: null });
  });

  test('a batch that fails while Postgres is available is logged as failed, not as an outage, and costs no attempt', async () => {
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
    await disarm('refuse_claim');
    expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 1 });
  });

  test('a receipt whose write is always canceled does not delay the rest of its batch and uses up no attempt', async () => {
    await worker.close();
    const intakeWithoutQueue = await stack.intake({ QUEUE_URL: 'redis://127.0.0.1:9' });
    // 57014 (query canceled) counts as an infrastructure error, but only this order causes it.
    await knex.raw(`
      create function cut_off() returns trigger language plpgsql as $$ begin
        if new.order_number = 'cut off' then raise query_canceled; end if; return new; end $$;
      create trigger cut_off before insert on orders for each row execute function cut_off()`);
    const payloads = Array.from({ length: 8 }, (_, index) =>
      order(`c${index}`, index === 3 ? { order_number: 'cut off' } : {}),
    );
    const receiptIds = await Promise.all(
      payloads.map(async (payload) => (await intakeWithoutQueue.api.order(account, payload)).body.receipt_id),
    );
    worker = await stack.worker(THREE_ATTEMPTS);
    for (const [index, receiptId] of receiptIds.entries()) {
      if (index !== 3) expect((await final(receiptId)).status).toBe('written');
    }
    expect(await row(receiptIds[3])).toMatchObject({ attempts: 0 });
    await disarm('cut_off');
    expect(await final(receiptIds[3])).toMatchObject({ status: 'written', attempts: 1 });
  });

  test('a receipt without its body fails alone', async () => {
    await worker.close();
    const gone = await send(order('gone'));
    const { batch_id } = await row(gone);
    await knex('receipt_payloads').where({ batch_id }).delete();
    const others = await Promise.all(Array.from({ length: 10 }, (_, index) => send(order(`there-${index}`))));
    worker = await stack.worker(THREE_ATTEMPTS);
    for (const receiptId of others) expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 1 });
    expect(await final(gone)).toMatchObject({ status: 'dead', error: { code: 'unexpected_error' } });
  });

  test('of many waiting receipts with one source_order_id one is written, and the others are its duplicates', async () => {
    await worker.close();
    const sent = await Promise.all(Array.from({ length: 31 }, () => send(order('same'))));
    const neighbour = await send(order('neighbour'));
    worker = await stack.worker(THREE_ATTEMPTS);
    // A batch that takes long does not hold up the next one, so that it is not always the first received.
    const finals = await Promise.all(sent.map((receiptId) => final(receiptId)));
    const written = finals.filter(({ status }) => status === 'written');
    expect(written).toHaveLength(1);
    const { receipt_id, order_id } = written[0];
    for (const one of finals.filter((each) => each !== written[0]))
      expect(one).toMatchObject({ status: 'duplicate', attempts: 1, duplicate_of: { receipt_id, order_id } });
    expect(await final(neighbour)).toMatchObject({ status: 'written', attempts: 1 });
    await until('the outbox row is gone', async () => (await outboxOf(receipt_id)).length === 0);
  });

  test('the sweeper sends a wake-up for a receipt that lost its own', async () => {
    const receiptId = await send(order('unrung'));
    await final(receiptId);
    const silent = `${receiptId.slice(0, -4)}0000`;
    const database = openDatabase({ url: stack.database.url, poolSize: 1, prepared: PREPARED });
    const withoutWakeUp = order('silent');
    const { source_order_id: sourceOrderId } = withoutWakeUp;
    const body = Buffer.from(JSON.stringify(withoutWakeUp));
    const receipt = newReceipt({ receiptId: silent, accountId: account.id, sourceOrderId, body });
    await recordReceipts(database, silent, 0, [receipt]);
    await closeDatabase(database);
    expect((await final(silent)).status).toBe('written');
  });

  test('a receipt whose worker crashed is claimed alone after its lease, and uses up no attempt', async () => {
    await worker.close();
    const receiptId = await send(order('lapsed'));
    await knex('receipts')
      .where({ receipt_id: receiptId })
      .update({
        state: 'normalized',
        lease_id: receiptId,
        normalized_at: new Date(),
        lease_expires_at: new Date(0),
      });
    worker = await stack.worker(THREE_ATTEMPTS);
    expect(await final(receiptId)).toMatchObject({ status: 'written', attempts: 1 });
    const receipt = await row(receiptId);
    expect(receipt).toMatchObject({ runs_alone: true, crashes: 0 });
    expect(receipt.history).toMatchObject([{ lease_lapsed_at: expect.any(String) }]);
  });

  test('a receipt that crashes its worker three times alone ends dead with worker_crashed, and this is logged', async () => {
    await worker.close();
    const receiptId = await send(order('killer', { order_number: 'never got so far' }));
    const database = openDatabase({ url: stack.database.url, poolSize: 1, prepared: PREPARED });
    // Simulates a worker that claims the receipt and crashes, so that the lease expires.
    const crash = async () => {
      const claimed =
        (await claimReceipts(database, [receiptId], uuid(), 60_000))[0] ??
        (await claimAlone(database, receiptId, uuid(), 60_000, 3));
      await knex('receipts')
        .where({ receipt_id: receiptId })
        .update({ lease_expires_at: new Date(0) });
      return claimed;
    };
    for (const crashes of [0, 0, 1, 2]) {
      expect(await crash()).toMatchObject({ receiptId });
      expect(await row(receiptId)).toMatchObject({ state: 'normalized', crashes });
    }
    worker = await stack.worker(THREE_ATTEMPTS);
    expect(await final(receiptId)).toMatchObject({ status: 'dead', attempts: 0, error: { code: 'worker_crashed' } });
    expect(worker.log.lines).toContainEqual(expect.objectContaining({ level: 'error', receipt_id: receiptId }));
    expect((await row(receiptId)).history).toHaveLength(4);
    await closeDatabase(database);
  });
});
