import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  closeDatabase,
  type Database,
  dropOldPartitions,
  enableSigning,
  faultOf,
  findReceipt,
  firstUuidAt,
  type IncomingReceipt,
  makePartitions,
  migrate,
  openDatabase,
  openKnex,
  recordReceipts,
  redriveReceipt,
  removeOldIdempotencyKeys,
  reviewOrder,
  rotateSigning,
  showSigning,
} from '@orders/database';
import { dropDatabase, ensureDatabase } from '@orders/local-services';
import { createTestDatabase, type TestDatabase } from './harness/database.ts';
import { startStack } from './harness/stack.ts';
import { until } from './harness/until.ts';

const DAY = 24 * 3600 * 1000;

let db: TestDatabase;
let database: Database;

beforeAll(async () => {
  db = await createTestDatabase();
  database = openDatabase({ url: db.url, poolSize: 4, prepared: true });
});
afterAll(async () => {
  await closeDatabase(database);
  await db.close();
});

/** A receipt of that moment, whatever time it is now. */
function receiptAt(time: number, rest: Partial<IncomingReceipt> = {}): IncomingReceipt {
  const receiptId = `${firstUuidAt(time).slice(0, 14)}7${randomBytes(2).toString('hex').slice(1)}-8${randomBytes(2).toString('hex').slice(1)}-${randomBytes(6).toString('hex')}`;
  return {
    receiptId,
    accountId: 1,
    channel: 'rest',
    sourceOrderId: `at-${time}`,
    idempotencyKey: null,
    body: Buffer.from('{"source_order_id":"x"}'),
    ...rest,
  };
}

async function record(...receipts: IncomingReceipt[]): Promise<string[]> {
  return recordReceipts(database, receipts[0]?.receiptId as string, 0, receipts);
}

async function tableOf(receiptId: string): Promise<string> {
  const { rows } = await db.knex.raw('select tableoid::regclass::text as name from receipts where receipt_id = ?', [
    receiptId,
  ]);
  return rows[0]?.name;
}

describe('migrations', () => {
  test('two at once: each finds the schema complete, and one ran', async () => {
    const url = new URL(db.url);
    url.pathname = `/twice_${randomBytes(4).toString('hex')}`;
    await ensureDatabase(url.href);
    const both = [openKnex({ url: url.href }), openKnex({ url: url.href })];
    const ran = await Promise.all(both.map(migrate));
    expect(ran.flat()).toEqual(['001-initial']);
    await Promise.all(both.map((knex) => knex.destroy()));
    await dropDatabase(url.href);
  });

  test('every unique index carries the account id', async () => {
    const { rows } = await db.knex.raw(`
      select c.relname as index, array_agg(a.attname::text) as columns
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
      join pg_namespace n on n.oid = t.relnamespace and n.nspname = 'public'
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
      where i.indisunique and t.relname not like 'schema_migrations%' group by 1`);
    expect(rows.length).toBeGreaterThan(5);
    for (const { index, columns } of rows)
      expect({ index, columns }).toEqual({ index, columns: expect.arrayContaining(['account_id']) });
  });

  test('nothing has a foreign key to a receipt', async () => {
    const { rows } = await db.knex.raw(
      "select conname from pg_constraint where contype = 'f' and confrelid::regclass::text like 'receipt%'",
    );
    expect(rows).toEqual([]);
  });
});

describe('partitions', () => {
  test('a receipt of now lies in the partition of its week, its body in the one beside it', async () => {
    const now = receiptAt(Date.now());
    await record(now);
    expect(await tableOf(now.receiptId)).toMatch(/^receipts_\d{8}$/);
    const { rows } = await db.knex.raw(
      'select tableoid::regclass::text as name from receipt_payloads where receipt_id = ?',
      [now.receiptId],
    );
    expect(rows[0].name).toBe((await tableOf(now.receiptId)).replace('receipts', 'receipt_payloads'));
  });

  test('what the default partition caught moves when its week gets a partition', async () => {
    const farAhead = Date.now() + 100 * DAY;
    const early = receiptAt(farAhead);
    await record(early);
    expect(await tableOf(early.receiptId)).toBe('receipts_default');
    expect((await makePartitions(db.knex, farAhead)).length).toBeGreaterThan(0);
    expect(await tableOf(early.receiptId)).toMatch(/^receipts_\d{8}$/);
    expect(await findReceipt(database, 1, early.receiptId)).toMatchObject({ state: 'received' });
    expect(await makePartitions(db.knex, farAhead)).toEqual([]);
  });

  test('one is dropped whole once all in it is older than the retention and final, and not before', async () => {
    const then = Date.now() - 200 * DAY;
    await makePartitions(db.knex, then);
    const [old, kept] = [receiptAt(then), receiptAt(then + 14 * DAY)];
    await record(old, kept);
    const retain = (days: number) => dropOldPartitions(db.knex, days * DAY);
    expect((await retain(90)).kept).toEqual(
      expect.arrayContaining([await tableOf(old.receiptId), await tableOf(kept.receiptId)]),
    );
    await db.knex('receipts').whereIn('receipt_id', [old.receiptId, kept.receiptId]).update({ state: 'written' });
    const [pastItsTime, inItsTime] = [await tableOf(old.receiptId), await tableOf(kept.receiptId)];
    expect((await retain(190)).dropped).toContain(pastItsTime);
    expect(await findReceipt(database, 1, old.receiptId)).toBeNull();
    expect(await tableOf(kept.receiptId)).toBe(inItsTime);
    const { rows } = await db.knex.raw('select 1 from receipt_payloads where receipt_id = ?', [old.receiptId]);
    expect(rows).toEqual([]);
  });
});

test('a week is not dropped while a receipt of it is being redriven', async () => {
  const then = Date.now() - 300 * DAY;
  await makePartitions(db.knex, then);
  const dead = receiptAt(then);
  await record(dead);
  await db.knex('receipts').where({ receipt_id: dead.receiptId }).update({ state: 'dead' });
  const redrive = await db.knex.transaction();
  expect(await redriveReceipt(redrive, dead.receiptId)).toBe(true);
  const dropping = dropOldPartitions(db.knex, 290 * DAY);
  await until('the drop waits for the redrive', async () => {
    const { rows } = await db.knex.raw(
      "select 1 from pg_stat_activity where wait_event = 'advisory' and datname = current_database()",
    );
    return rows.length > 0;
  });
  await redrive.commit();
  expect((await dropping).dropped).toEqual([]);
  expect(await findReceipt(database, 1, dead.receiptId)).toMatchObject({ state: 'received' });
});

test.each([
  [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'infrastructure'],
  [Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' }), 'unknown'],
  [new Error('Query read timeout'), 'infrastructure'],
  [new TypeError('x is not a function'), 'unknown'],
  [Object.assign(new Error('x'), { code: '23505', severity: 'ERROR' }), 'receipt'],
  [Object.assign(new Error('x'), { code: '57P01', severity: 'FATAL' }), 'infrastructure'],
  [Object.assign(new Error('x'), { code: '42P01', severity: 'ERROR' }), 'unknown'],
])('whose fault an error is, %#: %s', (error, fault) => {
  expect(faultOf(error)).toBe(fault);
});

test('idempotency keys are removed after their time, and then a key is free again', async () => {
  const first = receiptAt(Date.now(), { idempotencyKey: 'old' });
  await record(first);
  const second = receiptAt(Date.now(), { idempotencyKey: 'old' });
  expect(await record(second)).toEqual([]);
  expect(await removeOldIdempotencyKeys(database, DAY)).toBe(0);
  await db.knex('idempotency_keys').update({ created_at: new Date(Date.now() - 2 * DAY) });
  expect(await removeOldIdempotencyKeys(database, DAY)).toBe(1);
  expect(await record(second)).toEqual([second.receiptId]);
});

describe('signing secrets', () => {
  const key = randomBytes(32);

  test('are unreadable at rest, with another key, and in another account’s row', async () => {
    const { knex } = db;
    const [a, b] = await knex('accounts')
      .insert([{ name: 'a' }, { name: 'b' }])
      .returning('account_id');
    const { secret } = await enableSigning(knex, key, a.account_id);
    const { sealed } = await knex('signing_secrets').where({ account_id: a.account_id }).first();
    expect(sealed.includes(Buffer.from(secret))).toBe(false);
    await expect(showSigning(knex, randomBytes(32), a.account_id)).rejects.toThrow();
    await knex('signing_secrets').insert({ account_id: b.account_id, sealed });
    await expect(showSigning(knex, key, b.account_id)).rejects.toThrow();
  });

  test('rotated, the old and the new one verify on the webhook route for as long as they overlap', async () => {
    const stack = await startStack('postgres');
    const { api } = await stack.intake();
    const account = await stack.account({ signing: true });
    const rotated = await rotateSigning(stack.database.knex, stack.secretsKey, account.id, 60_000);
    for (const secret of [account.secret, rotated?.secret as string]) {
      expect((await api.webhook({ ...account, secret }, { source_order_id: 'r' })).status).toBe(202);
    }
    const again = await rotateSigning(stack.database.knex, stack.secretsKey, account.id, 0);
    const other = await stack.intake();
    expect((await other.api.webhook({ ...account, secret: rotated?.secret as string }, {})).body.code).toBe(
      'invalid_signature',
    );
    expect((await other.api.webhook({ ...account, secret: again?.secret as string }, {})).body.code).toBe(
      'validation_failed',
    );
    await stack.close();
  });
});

describe('dispatchable_orders', () => {
  let orderId = 0;
  const insertOrder = async () => {
    orderId += 1;
    const row = {
      account_id: 1,
      source_order_id: `d-${orderId}`,
      order_number: 'n',
      channel: 'rest',
      receipt_id: firstUuidAt(orderId),
      items: '[]',
      warnings: '[]',
      currency: 'AED',
      received_at: new Date(),
    };
    const [inserted] = await db.knex('orders').insert(row).returning('order_id');
    return inserted.order_id as number;
  };
  const visible = async (): Promise<number[]> =>
    db.knex('dispatchable_orders').orderBy(['confirmed_xid', 'order_id']).pluck('order_id');
  const passUndoTime = (id: number) =>
    db
      .knex('orders')
      .where({ order_id: id })
      .update({ reviewed_at: db.knex.raw("reviewed_at - interval '11 seconds'") });

  test('shows confirmed orders, and those only after the undo time', async () => {
    const [waiting, confirmed, rejected] = [await insertOrder(), await insertOrder(), await insertOrder()];
    await reviewOrder(db.knex, confirmed, 'confirmed', 'test');
    await reviewOrder(db.knex, rejected, 'rejected', 'test');
    expect(await visible()).toEqual([]);
    await passUndoTime(confirmed);
    expect(await visible()).toEqual([confirmed]);
    expect(waiting).not.toBe(confirmed);
  });

  test('nothing appears behind a cursor later on: a slow confirmation holds back those after it', async () => {
    const before = await visible();
    const [slow, quick] = [await insertOrder(), await insertOrder()];
    const trx = await db.knex.transaction();
    await reviewOrder(trx, slow, 'confirmed', 'test');
    await reviewOrder(db.knex, quick, 'confirmed', 'test');
    await passUndoTime(quick);
    expect(await visible()).toEqual(before);
    await trx.commit();
    expect(await visible()).toEqual(before);
    await passUndoTime(slow);
    expect(await visible()).toEqual([...before, slow, quick]);
  });
});

test('without named statements, as behind a pooler in transaction mode, an order is written all the same', async () => {
  const stack = await startStack('postgres');
  const { api } = await stack.intake({ PG_PREPARED: 'off' });
  await stack.worker({ PG_PREPARED: 'off' });
  const account = await stack.account();
  const { body } = await api.order(account, { source_order_id: 'unprepared' }, { Prefer: 'wait=20' });
  expect(body.status).toBe('written');
  await stack.close();
});
