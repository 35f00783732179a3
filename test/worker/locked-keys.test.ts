import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Database } from '@orders/database/connect.ts';
import { writeOrders } from '@orders/database/orders/write-orders.ts';
import { ascending } from '@orders/database/receipts/uuids.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import { openProducer } from '@orders/queue/open-producer.ts';
import { until } from '@orders/test-services/until.ts';
import type { PoolClient } from 'pg';
import { hold, untilPostponed, whoWait } from '../harness/barriers.ts';
import { expectSettled } from '../harness/settled.ts';
import { type RunningIntake, type RunningWorker, type Stack, startStack, type TestAccount } from '../harness/stack.ts';

let stack: Stack;
/** Its wake-ups are lost, and no sweep takes its receipts before the test sends their wake-up. */
let intake: RunningIntake;
let database: Database;
let account: TestAccount;
let other: TestAccount;
let worker: RunningWorker | undefined;
/** The transaction that holds a key or a row. */
let open: PoolClient;

beforeAll(async () => {
  stack = await startStack('postgres');
  intake = await stack.intake({ QUEUE_URL: 'redis://127.0.0.1:9', SWEEP_AFTER: '10m' });
  database = stack.openDatabase();
});
beforeEach(async () => {
  account = await stack.account();
  other = await stack.account();
  open = await database.pool.connect();
  await open.query('begin');
});
afterEach(async () => {
  open.release(true);
  await worker?.close();
  worker = undefined;
});

const send = async (sourceOrderId: string, of = account): Promise<string> =>
  (await intake.api.order(of, { source_order_id: sourceOrderId })).body.receipt_id;

/** Gives these receipts one outbox row and one job, so that they are one batch of the worker. */
async function wakeUpTogether(receiptIds: string[], isNew: boolean): Promise<void> {
  const { knex } = stack.database;
  const [batchId = ''] = receiptIds;
  await knex('outbox').whereRaw('receipt_ids && ?::uuid[]', [receiptIds]).delete();
  await knex('outbox').insert({
    batch_id: batchId,
    receipt_ids: ascending(receiptIds),
    account_ids: [account.id, other.id],
    due_at: new Date(Date.now() + 3_600_000),
  });
  const { promise: delivered, resolve: onDelivered, reject: onLost } = Promise.withResolvers<void>();
  const producer = openProducer({ url: stack.queue.url, onDelivered, onLost });
  producer.wakeUp('prompt', { batchId, receiptIds, ...(isNew && { newBytes: 1000 }) });
  await delivered.finally(() => producer.close());
}

const row = (receiptId: string) => stack.database.knex('receipts').where({ receipt_id: receiptId }).first();

async function untilWritten(receiptIds: string[]): Promise<void> {
  await until('they are written', async () => {
    const states = await stack.database.knex('receipts').whereIn('receipt_id', receiptIds).pluck('state');
    return states.every((state) => state === 'written');
  });
}

async function cancel(connection: Pick<PoolClient, 'query'>, ids = ['locked']): Promise<void> {
  const [{ key_id }] = await stack.database.knex('api_keys').where({ account_id: account.id });
  const none = ids.map(() => null);
  await connection.query('select * from cancel_orders($1, $2, null, $3, $4)', [account.id, key_id, ids, none]);
}

/** Another transaction that holds something which the order `locked` needs. */
interface Holder {
  /** @returns the id of its own receipt, if it has one. */
  hold(receiptId: string): Promise<string | undefined>;
  end?: 'rollback';
  /** The end of the receipt of the order. */
  state?: 'duplicate';
  /** Whether a claim passes over its receipt, which only the sweep tries again. */
  isRowLocked?: boolean;
}

const HOLDERS: Record<string, Holder> = {
  'another worker that writes its key': {
    async hold() {
      const receiptId = await send('locked');
      await stack.database.knex('outbox').whereRaw('? = any(receipt_ids)', [receiptId]).delete();
      const order = { ...normalizeSent({ source_order_id: 'locked' }), receiptId, accountId: account.id };
      await writeOrders({ pool: open, prepared: false }, null, [], [order]);
      return receiptId;
    },
    state: 'duplicate',
  },
  'a cancellation of its key': { hold: async () => void (await cancel(open)) },
  'a cancellation of its key that is rolled back': { hold: async () => void (await cancel(open)), end: 'rollback' },
  'a session with its held cancellation': {
    async hold() {
      await cancel(database.pool);
      await open.query("select from order_keys where account_id = $1 and source_order_id = 'locked' for update", [
        account.id,
      ]);
      return undefined;
    },
  },
  'a session with its receipt, as an erasure': {
    async hold(receiptId) {
      await open.query('select from receipts where receipt_id = $1 for update', [receiptId]);
      return undefined;
    },
    isRowLocked: true,
  },
};

describe.each([
  ['new receipts', true, {}],
  ['receipts under a lease', false, {}],
  ['new receipts without prepared statements, as behind a pooler', true, { PG_PREPARED: 'off' }],
] as const)('%s', (_, isNew, settings) => {
  test.each(Object.entries(HOLDERS))('%s delays no other order of the same batch', async (_, holder) => {
    const locked = await send('locked');
    // A claim passes over a locked receipt, but not over the later delivery.
    const again = holder.isRowLocked ? [] : [await send('locked')];
    const own = [await send('own-1'), await send('own-2')];
    const others = [await send('theirs-1', other), await send('theirs-2', other)];
    const holding = await holder.hold(locked);
    await wakeUpTogether([locked, ...own, ...again, ...others], isNew);
    worker = await stack.worker({ ...settings, ...(!holder.isRowLocked && { SWEEP_INTERVAL: '10m' }) });

    await untilWritten([...own, ...others]);
    // Several times, and the later delivery does not overtake the first.
    if (!holder.isRowLocked) await untilPostponed(worker, 6);
    for (const receiptId of [locked, ...again])
      expect(await row(receiptId)).toMatchObject({ attempts: 0, history: null, order_id: null });

    await open.query(holder.end ?? 'commit');
    await expectSettled(stack, account, {
      ...Object.fromEntries(own.map((id) => [id, 'written'])),
      ...(holding && { [holding]: 'written' }),
      [locked]: holder.state ?? 'written',
      ...Object.fromEntries(again.map((id) => [id, 'duplicate'])),
    });
    await expectSettled(stack, other, Object.fromEntries(others.map((id) => [id, 'written'])));
    expect(await stack.database.knex('receipts').where({ runs_alone: true })).toEqual([]);
  });
});

test('many locked keys of an account delay no other account', async () => {
  const ids = Array.from({ length: 40 }, (_, index) => `locked-${index}`);
  const locked = await Promise.all(ids.map((id) => send(id)));
  const others = [await send('theirs-1', other), await send('theirs-2', other)];
  await cancel(open, ids);
  await wakeUpTogether([...others.slice(0, 1), ...locked, ...others.slice(1)], true);
  worker = await stack.worker({ SWEEP_INTERVAL: '10m' });
  await untilWritten(others);
  await untilPostponed(worker, 2 * locked.length);
  await open.query('commit');
  await expectSettled(stack, account, Object.fromEntries(locked.map((id) => [id, 'written'])));
});

test('a receipt that is locked after it was claimed is released later, and others of its lease at once', async () => {
  const { knex } = stack.database;
  const table = await hold(knex, 'lock table orders in share row exclusive mode');
  const [locked, theirs] = [await send('locked'), await send('theirs', other)];
  await wakeUpTogether([locked, theirs], false);
  worker = await stack.worker();
  await until('both are claimed', async () => (await row(theirs)).lease_id !== null);
  await whoWait(knex, 1, 'relation');
  await open.query('select from receipts where receipt_id = $1 for update', [locked]);
  await table.release();
  await untilWritten([theirs]);
  await untilPostponed(worker);
  expect(await row(locked)).toMatchObject({ state: 'normalized', lease_id: expect.any(String), attempts: 0 });
  await open.query('commit');
  await until('it is released', async () => (await row(locked)).lease_id === null);
  // Otherwise at the end of its lease.
  await knex('outbox')
    .where({ account_ids: [account.id, other.id] })
    .update({ due_at: knex.fn.now() });
  await expectSettled(stack, account, { [locked]: 'written' });
  await expectSettled(stack, other, { [theirs]: 'written' });
  expect(await row(locked)).toMatchObject({ runs_alone: false });
});
