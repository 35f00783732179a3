import { beforeAll, describe, expect, test } from '@jest/globals';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { findReceipt } from '@orders/database/receipts/find-receipt.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { until } from '@orders/test-services/until.ts';
import { openReadReplica } from '../../apps/intake/src/receipts/read-replica.ts';
import { lockTables } from '../harness/barriers.ts';
import { STANDBY_SETTINGS, type Standby, startStandby } from '../harness/base-backup.ts';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { poisonOrders, stopPoisoning } from '../harness/damage-body.ts';
import { PREPARED } from '../harness/database.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { dispatch, extendUndo, insertOrders } from '../harness/review-list.ts';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';
import { useDatabase } from '../harness/use-stack.ts';

describe('status requests with a read replica', () => {
  let primary: FaultyPostgres;
  let replica: Standby;
  let stack: Stack;
  let intake: RunningIntake;
  let account: TestAccount;

  beforeAll(async () => {
    primary = await startFaultyPostgres(STANDBY_SETTINGS);
    replica = await startStandby(primary);
    stack = await startStack(QUEUE_KIND, { database: primary });
    intake = await stack.intake({ DATABASE_READ_URL: replica.server.url });
    await stack.worker({ RETRY_ATTEMPTS: '1' });
    account = await stack.account();
  });
  /** The number of status requests that the replica or the primary answered. */
  async function answeredBy(who: 'replica' | 'primary'): Promise<number> {
    const text = await (await fetch(`${intake.adminUrl}/metrics`)).text();
    return Number(new RegExp(`intake_receipt_lookups_total{answered_by="${who}"} (\\d+)`).exec(text)?.[1] ?? 0);
  }

  async function accept(source_order_id: string, order: object = {}): Promise<string> {
    const reply = await intake.api.order(account, { source_order_id, ...order });
    expect(reply.status).toBe(202);
    return reply.body.receipt_id;
  }

  /** The status of a receipt, or that of an HTTP reply that has none. */
  const poll = async (receiptId: string) => String((await intake.api.status(account, receiptId)).body.status);

  test('dispatchable_orders can be read there, and shows no order whose confirmation can be undone', async () => {
    const orderIds = await insertOrders(primary.knex, account.id, 2);
    await reviewOrders(primary.db, { accountId: account.id, orderIds, to: 'confirmed', by: 'somebody' });
    const [dispatched, undoable] = orderIds as [number, number];
    await extendUndo(primary.knex, [undoable]);
    await dispatch(primary.knex, dispatched);
    const shown = await until('the replica shows it', async () => {
      const rows = await replica.query('select position, order_id from dispatchable_orders');
      return rows.length > 0 && rows;
    });
    expect(shown).toEqual([{ position: '1', order_id: String(dispatched) }]);
  });

  test('a receipt that is not on the replica yet is read from the primary, and so is its outcome', async () => {
    await replica.fallBehind();
    const receiptId = await accept('just-accepted');
    expect(await replica.query(`select * from receipts where receipt_id = '${receiptId}'`)).toEqual([]);
    const reply = await intake.api.status(account, receiptId);
    expect(reply.status).toBe(200);
    // A waiting request reads the outcome from the primary too.
    expect((await intake.api.final(account, receiptId)).body.status).toBe('written');
    expect(await poll(receiptId)).toBe('written');
    await replica.catchUp();
  });

  test('final receipts are read from the replica alone, even if the primary is locked', async () => {
    const receiptIds: string[] = [];
    for (let copy = 0; copy < 2; copy += 1) {
      const receiptId = await accept('settled');
      await intake.api.final(account, receiptId);
      receiptIds.push(receiptId);
    }
    await replica.catchUp();
    // A standby replays this lock too.
    await replica.fallBehind();
    const lock = await lockTables(primary.knex, 'receipts');
    const before = await answeredBy('replica');
    const seen = new Set<string>();
    // On a busy machine the replica may count as down for a while. The locked primary then causes a 503.
    await until('the replica has answered twenty times', async () => {
      for (const receiptId of receiptIds) seen.add(await poll(receiptId));
      return (await answeredBy('replica')) >= before + 20;
    });
    await lock.release();
    await replica.catchUp();
    seen.delete('503');
    expect([...seen]).toEqual(['written', 'duplicate']);
  });

  test('a receipt of another account is unknown on the replica too', async () => {
    const receiptId = await accept('of-one-account');
    await intake.api.final(account, receiptId);
    await replica.catchUp();
    const other = await stack.account();
    expect((await intake.api.status(other, receiptId)).body.code).toBe('receipt_not_found');
  });

  test('a redriven receipt is not reported as dead although the replica still says so', async () => {
    await poisonOrders(primary.knex);
    const receiptId = await accept('redriven', { order_number: 'poison' });
    expect((await intake.api.final(account, receiptId)).body.status).toBe('dead');
    await replica.catchUp();
    await replica.fallBehind();
    await stopPoisoning(primary.knex);
    await redriveReceipts(primary.db, [receiptId]);
    expect(await poll(receiptId)).not.toBe('dead');
    expect((await intake.api.final(account, receiptId)).body.status).toBe('written');
    await replica.catchUp();
  });

  test('with the replica frozen the primary replies, and the replica is used again after the thaw', async () => {
    const receiptId = await accept('frozen');
    await intake.api.final(account, receiptId);
    await replica.catchUp();
    await untilUsed(receiptId);
    const [logged, before] = [intake.log.lines.length, await answeredBy('replica')];
    await replica.server.freeze();
    for (let index = 0; index < 3; index++) expect(await poll(receiptId)).toBe('written');
    expect(await answeredBy('replica')).toBe(before);
    expect((await fetch(`${intake.adminUrl}/health/ready`)).status).toBe(200);
    replica.server.thaw();
    await untilUsed(receiptId);
    const outages = intake.log.lines.slice(logged).filter(({ message }) => String(message).startsWith('read replica'));
    expect(outages.slice(0, 2).map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  test('with the replica killed the primary replies and intake starts, and the replica is used again after its restart', async () => {
    const receiptId = await accept('killed');
    await intake.api.final(account, receiptId);
    await replica.server.kill();
    expect(await poll(receiptId)).toBe('written');
    const later = await stack.intake({ DATABASE_READ_URL: replica.server.url });
    expect((await later.api.status(account, receiptId)).body.status).toBe('written');
    await later.close();
    await replica.server.start();
    await untilUsed(receiptId);
  });

  async function untilUsed(receiptId: string): Promise<void> {
    const before = await answeredBy('replica');
    await until('the replica answers again', async () => {
      expect(await poll(receiptId)).toBe('written');
      return (await answeredBy('replica')) > before;
    });
  }
});

describe('the pool of a replica', () => {
  const UNKNOWN_RECEIPT = '00000000-0000-7000-8000-000000000000';

  const { db } = useDatabase();

  test('a replica whose connections are all in use is not considered down', async () => {
    const outages: unknown[] = [];
    const log = { failed: (error: unknown) => outages.push(error), recovered: () => {} };
    const replica = closeAtEnd(openReadReplica({ url: db.url, poolSize: 1, prepared: PREPARED }, log));
    const lookUp = () =>
      replica.query(async (database) => ({ found: await findReceipt(database, 0, UNKNOWN_RECEIPT) }));
    // Opening its only connection may exceed the timeout, which counts as an outage.
    await until('its connection is open', lookUp);
    outages.length = 0;
    const [release, isHeld] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = replica.query(async ({ pool }) => {
      const client = await pool.connect();
      isHeld.resolve();
      await release.promise;
      client.release();
    });
    await isHeld.promise;
    expect(await lookUp()).toBeNull();
    expect(outages).toEqual([]);
    release.resolve();
    await holding;
    expect(await until('it answers again', lookUp)).toEqual({ found: null });
  });

  test('a replica that does not answer is asked once, and again after a probe was answered', async () => {
    const log = { failed: () => {}, recovered: () => {} };
    const replica = closeAtEnd(openReadReplica({ url: db.url, poolSize: 1, prepared: PREPARED }, log));
    let asked = 0;
    const lookUp = () =>
      replica.query(async (database) => {
        asked += 1;
        return { found: await findReceipt(database, 0, UNKNOWN_RECEIPT) };
      });
    await until('its connection is open', lookUp);
    const silence = await lockTables(db.knex, 'receipts');
    asked = 0;
    for (let time = 0; time < 10; time += 1) expect(await lookUp()).toBeNull();
    await silence.release();
    expect(asked).toBe(1);
    expect(await until('it answers again', lookUp)).toEqual({ found: null });
  });
});
