import { beforeAll, describe, expect, test } from '@jest/globals';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { openProducer } from '@orders/queue/open-producer.ts';
import type { WakeUp } from '@orders/queue/wake-up.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { run } from '../cli/run.ts';
import { type BarrierName, closeBarrier, hold, installBarriers, untilPostponed, whoWait } from '../harness/barriers.ts';
import { closeAfterTest } from '../harness/close-at-end.ts';
import { startApp } from '../harness/processes.ts';
import { describeQueues } from '../harness/queue.ts';
import { expectSettled } from '../harness/settled.ts';
import { type TestAccount, withStack } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

/** For a worker that waits for a lock: one job at a time, and no maintenance or sweep. */
const HELD_UP = { WORKER_CONCURRENCY: '1', SWEEP_INTERVAL: '10m' };

describeQueues('forced races between workers, the queue on %s', (kind) => {
  let account: TestAccount;

  const { stack, knex, intake } = useStack({ queue: kind, intake: true });

  beforeAll(async () => {
    await installBarriers(knex);
  });

  const shut = (barrier: BarrierName) => closeBarrier(knex, barrier);
  const startWorker = async (settings: Record<string, string> = HELD_UP) =>
    closeAfterTest(await stack.worker(settings));
  const startProcess = async (settings: Record<string, string>) => {
    const adminPort = await freePort();
    const child = await startApp('worker', { ...stack.env, ...settings, ADMIN_PORT: String(adminPort) });
    closeAfterTest({ close: () => child.stop('SIGKILL') });
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${adminPort}${path}`)).text();
    return { child, ask };
  };
  const send = async (sourceOrderId: string, { api } = intake): Promise<string> => {
    const reply = await api.order(account, { source_order_id: sourceOrderId });
    expect(reply.status).toBe(202);
    return reply.body.receipt_id;
  };
  const sendMany = (name: string, count: number, from = intake) =>
    Promise.all(Array.from({ length: count }, (_, index) => send(`${name}-${index}`, from)));
  const row = (receiptId: string) =>
    knex('receipts').select('*', knex.raw('xmin::text')).where({ receipt_id: receiptId }).first();
  const outboxRowOf = (receiptId: string) => knex('outbox').whereRaw('? = any(receipt_ids)', [receiptId]).first();
  const sendWakeUp = async (wakeUp: WakeUp) => {
    const producer = openProducer({ url: stack.queue.url });
    producer.wakeUp('prompt', wakeUp);
    await producer.close();
  };
  /** A receipt whose first wake-up is lost: workers process it under a lease. */
  const sendLeased = async (sourceOrderId: string): Promise<string> => {
    const withoutQueue = await stack.intake({ QUEUE_URL: 'redis://127.0.0.1:9' });
    const receiptId = await send(sourceOrderId, withoutQueue);
    await withoutQueue.close();
    await sendWakeUp({ batchId: (await outboxRowOf(receiptId)).batch_id, receiptIds: [receiptId] });
    return receiptId;
  };
  const wakeUpTwice = async (wakeUp: WakeUp, between: () => Promise<unknown>) => {
    const producer = openProducer({ url: stack.queue.url });
    producer.wakeUp('prompt', wakeUp);
    await between();
    producer.wakeUp('prompt', wakeUp);
    await producer.close();
  };
  const all = (receiptIds: string[], state: string) => Object.fromEntries(receiptIds.map((id) => [id, state]));

  test('the second of two workers with the same job claims nothing and keeps the outbox row', async () => {
    account = await stack.account();
    const intakeWithoutQueue = await stack.intake({ QUEUE_URL: 'redis://127.0.0.1:9', SWEEP_AFTER: '10m' });
    const receiptIds = (await sendMany('one-job', 20, intakeWithoutQueue)).toSorted();
    await intakeWithoutQueue.close();
    const wakeUp = { batchId: receiptIds[0] as string, receiptIds };
    const due_at = new Date(Date.now() + 3_600_000);
    await knex('outbox').whereRaw('receipt_ids && ?::uuid[]', [receiptIds]).delete();
    const row = { batch_id: wakeUp.batchId, receipt_ids: receiptIds, account_ids: [account.id], due_at };
    await knex('outbox').insert(row);
    for (let count = 0; count < 2; count++) await startWorker();

    const barrier = await shut('receipts claimed');
    await wakeUpTwice(wakeUp, () => whoWait(knex, 1, 'advisory'));
    const outboxRow = await until('the second worker has processed its wake-up', async () => {
      const found = await outboxRowOf(wakeUp.batchId);
      return found?.due_at < due_at && found;
    });
    expect(outboxRow.receipt_ids).toEqual(receiptIds);
    await barrier.release();
    await expectSettled(stack, account, all(receiptIds, 'written'));
  });

  test('a worker that resumes after its lease expired changes nothing, because another worker wrote its receipt', async () => {
    account = await stack.account();
    const barrier = await shut('receipts claimed');
    const { child, ask } = await startProcess({ ...HELD_UP, LEASE: '300ms' });
    const receiptId = await sendLeased('taken-for-dead');
    await whoWait(knex, 1, 'advisory');
    process.kill(child.pid, 'SIGSTOP');
    await barrier.release();
    await until('its claim is committed', async () => (await row(receiptId)).lease_id !== null);
    await startWorker({});
    expect((await intake.api.final(account, receiptId)).body).toMatchObject({ status: 'written', attempts: 1 });
    const before = [await row(receiptId), await knex('orders').where({ receipt_id: receiptId })];
    process.kill(child.pid, 'SIGCONT');
    const metrics = await until('the resumed worker is done', async () => {
      const text = await ask('/metrics');
      return text.includes('worker_batch_receipts_count 1') && text;
    });
    expect(metrics).toContain('worker_batch_receipts_sum 0');
    await child.stop('SIGTERM');
    expect(child.process.exitCode).toBe(0);
    expect([await row(receiptId), await knex('orders').where({ receipt_id: receiptId })]).toEqual(before);
    await expectSettled(stack, account, all([receiptId], 'written'), {
      history: [{ lease_lapsed_at: expect.any(String) }],
    });
  });

  test('a wake-up of the sweeper during a write and after its lease causes no second order', async () => {
    account = await stack.account();
    // This lock blocks only writes, because other work of a worker reads orders.
    const table = await hold(knex, 'lock table orders in share row exclusive mode');
    const barrier = await shut('orders written');
    await startWorker();
    const receiptId = await sendLeased('swept');
    // Maintenance of the worker can wait for the table as well, so the lock alone does not show that the claim is done.
    await until('its claim is committed', async () => (await row(receiptId)).lease_id !== null);
    await whoWait(knex, 1, 'relation');
    await knex('outbox').whereRaw('? = any(receipt_ids)', [receiptId]).update({ due_at: knex.fn.now() });
    // A worker sweeps when it starts, and the first one is busy.
    await startWorker();
    const { lease_id, lease_expires_at } = await row(receiptId);
    const outboxRow = await until('the wake-up is processed', async () => {
      const found = await outboxRowOf(receiptId);
      return found?.due_at.getTime() === lease_expires_at.getTime() && found;
    });
    expect(await row(receiptId)).toMatchObject({ state: 'normalized', lease_id });

    await knex('receipts')
      .where({ receipt_id: receiptId })
      .update({ lease_expires_at: new Date(0) });
    await table.release();
    await whoWait(knex, 1, 'advisory');
    await sendWakeUp({ batchId: outboxRow.batch_id, receiptIds: [receiptId] });
    await whoWait(knex, 1, 'transactionid');
    await barrier.release();
    await expectSettled(stack, account, all([receiptId], 'written'));
    expect(await row(receiptId)).toMatchObject({ runs_alone: false });
  });

  test('two workers that write one source_order_id at the same time create one order and its duplicate', async () => {
    account = await stack.account();
    const workers = [await startWorker(), await startWorker()];
    const barrier = await shut('orders written');
    const first = await send('same-moment');
    await whoWait(knex, 1, 'advisory');
    const second = await send('same-moment');
    await untilPostponed(workers);
    await barrier.release();
    await expectSettled(stack, account, { [first]: 'written', [second]: 'duplicate' });
    const { body } = await intake.api.status(account, second);
    expect(body.duplicate_of.receipt_id).toBe(first);
  });

  test('orders whose keys another transaction is writing delay no order of another account', async () => {
    const other = await stack.account();
    account = await stack.account();
    const worker = await startWorker({ SWEEP_INTERVAL: '10m' });
    const ids = [1, 2, 3].map((number) => `held-${number}`);
    const [{ key_id }] = await knex('api_keys').where({ account_id: account.id });
    const cancelThem = `select * from cancel_orders(${account.id}, ${key_id}, null, '{${ids}}', array_fill(null::text, '{3}'))`;
    const keys = await hold(knex, cancelThem);
    const held: string[] = [];
    for (const id of ids) {
      held.push(await send(id));
      await untilPostponed(worker, held.length);
    }
    const { body } = await intake.api.order(other, { source_order_id: 'of another' });
    expect((await intake.api.final(other, body.receipt_id)).body).toMatchObject({ status: 'written' });
    expect(await knex('receipts').where({ account_id: account.id, state: 'written' })).toEqual([]);
    await keys.release();
    await expectSettled(stack, account, all(held, 'written'));
  });

  test('if the first of these workers is cut off before its commit, the order is written once', async () => {
    account = await stack.account();
    const workers = [await startWorker(), await startWorker()];
    const barrier = await shut('orders written');
    const first = await send('cut-off');
    const [backend] = await whoWait(knex, 1, 'advisory');
    const second = await send('cut-off');
    await untilPostponed(workers);
    await knex.raw('select pg_terminate_backend(?)', [backend as number]);
    await until('another write waits at the barrier', async () => {
      const [at] = await whoWait(knex, 1, 'advisory');
      return at !== backend;
    });
    await barrier.release();
    const written: string = await until('the order is written', async () => {
      const [order] = await knex('orders').where({ account_id: account.id });
      return order?.receipt_id;
    });
    const duplicate = written === first ? second : first;
    await expectSettled(stack, account, { [written]: 'written', [duplicate]: 'duplicate' });
    const { body } = await intake.api.status(account, duplicate);
    expect(body.duplicate_of.receipt_id).toBe(written);
  });

  test('a worker that gets SIGTERM finishes its batch, exits with 0, and leaves later receipts untouched', async () => {
    account = await stack.account();
    const barrier = await shut('orders written');
    // It sweeps, because a slow machine may lose a wake-up.
    const { child, ask } = await startProcess({
      ...HELD_UP,
      WORKER_CONCURRENCY: '16',
      SWEEP_INTERVAL: '1s',
      DRAIN_TIMEOUT: '10m',
    });
    const early = await sendMany('before-sigterm', 20);
    await whoWait(knex, 1, 'advisory');
    process.kill(child.pid, 'SIGTERM');
    await until('it drains', async () => JSON.parse(await ask('/health/ready')).draining);
    const late = await sendMany('after-sigterm', 5);
    expect(await knex('orders').where({ account_id: account.id })).toEqual([]);
    await barrier.release();
    await child.exited;
    expect(child.process.exitCode).toBe(0);
    const states = await knex('receipts').where({ account_id: account.id }).distinct('state').pluck('state');
    expect(states).toContain('written');
    expect(states).not.toContain('normalized');
    const lateStates = await knex('receipts').whereIn('receipt_id', late).distinct('state').pluck('state');
    // A fetch that began before the drain may have brought one of these jobs. Then the whole job is done.
    expect(['received', 'written']).toEqual(expect.arrayContaining(lateStates));
    await startWorker({});
    await expectSettled(stack, account, all([...early, ...late], 'written'));
  });
});

describe('forced races between operators', () => {
  test.each([
    ['commits', 'commit', 1],
    ['is cut off', 'rollback', 0],
  ] as const)('one of two simultaneous redrives of a dead receipt redrives it if the first %s', (_what, end, code) =>
    withStack('postgres', async (stack) => {
      const { knex } = stack.database;
      const account = await stack.account();
      const { api } = await stack.intake({ SWEEP_AFTER: '10m' });
      const { receipt_id } = (await api.order(account, { source_order_id: 'redriven' })).body;
      await knex('receipts').where({ receipt_id }).update({ state: 'dead', attempts: 8, error_code: 'write_refused' });
      await knex('outbox').delete();
      const first = await knex.transaction();
      expect(await redriveReceipts(connectionOf(first), [receipt_id])).toEqual([receipt_id]);
      const second = run(['receipts', 'redrive', receipt_id], { DATABASE_URL: stack.database.url });
      await whoWait(knex, 1, 'transactionid');
      await first[end]();
      expect(await second).toMatchObject({ code });
      expect(await knex('outbox').whereRaw('? = any(receipt_ids)', [receipt_id])).toHaveLength(1);
      await stack.worker();
      await expectSettled(
        stack,
        account,
        { [receipt_id]: 'written' },
        { history: [{ redriven_at: expect.any(String) }] },
      );
    }),
  );
});
