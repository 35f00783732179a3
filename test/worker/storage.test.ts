import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { enableSigning, rotateSigning, showSigning } from '@orders/database/accounts/signing-secrets.ts';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { faultOf } from '@orders/database/database-errors.ts';
import { migrate } from '@orders/database/migrate.ts';
import { MIGRATIONS } from '@orders/database/migrations/index.ts';
import { type ReviewDecision, reviewOrders } from '@orders/database/orders/review-orders.ts';
import { writeOrders } from '@orders/database/orders/write-orders.ts';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { findReceipt } from '@orders/database/receipts/find-receipt.ts';
import { findReceiptRecord } from '@orders/database/receipts/receipt-records.ts';
import { type IncomingReceipt, recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { firstUuidAt } from '@orders/database/receipts/uuids.ts';
import { type Connection, inRolledBackTransaction, inTransaction, PUBLISH_LOCK, run } from '@orders/database/run.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import { dropDatabase, ensureDatabase } from '@orders/test-services/databases.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { dispatchOrders } from '@orders/worker/dispatch-orders.ts';
import { dropOldPartitions, removeLeftovers } from '@orders/worker/maintenance/drop-partitions.ts';
import { removeOldIdempotencyKeys } from '@orders/worker/maintenance/remove-idempotency-keys.ts';
import { claimAlone, claimReceipts, findSuspects, releaseLease } from '@orders/worker/receipts/claim-receipts.ts';
import { failReceipt } from '@orders/worker/receipts/fail-receipt.ts';
import { settleBatch } from '@orders/worker/receipts/outbox.ts';
import { readNewReceipts } from '@orders/worker/receipts/read-new-receipts.ts';
import type { Knex } from 'knex';
import { hold, whoWait } from '../harness/barriers.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { insertOrders, makeReviewOlder } from '../harness/review-list.ts';
import { withStack } from '../harness/stack.ts';
import { useDatabase } from '../harness/use-stack.ts';

const DAY = 24 * 3600 * 1000;

const { db, database } = useDatabase({ poolSize: 4 });

/** A receipt with the given receive time. */
function receiptAt(time: number, rest: Partial<IncomingReceipt> = {}): IncomingReceipt {
  const receiptId = `${firstUuidAt(time).slice(0, 14)}7${randomBytes(2).toString('hex').slice(1)}-8${randomBytes(2).toString('hex').slice(1)}-${randomBytes(6).toString('hex')}`;
  return newReceipt({ receiptId, sourceOrderId: `at-${time}`, body: Buffer.from('{"source_order_id":"x"}'), ...rest });
}

async function record(...receipts: IncomingReceipt[]): Promise<string[]> {
  return recordReceipts(database, receipts[0]?.receiptId as string, 0, receipts);
}

/** Makes receipts of one outbox row final like a worker, and deletes the row. */
async function settle(...receipts: IncomingReceipt[]): Promise<void> {
  const receiptIds = receipts.map(({ receiptId }) => receiptId);
  await db.knex('receipts').whereIn('receipt_id', receiptIds).update({ state: 'written' });
  await db.knex('outbox').whereIn('batch_id', receiptIds).delete();
}

async function tableOf(receiptId: string): Promise<string> {
  const { rows } = await db.knex.raw('select tableoid::regclass::text as name from receipts where receipt_id = ?', [
    receiptId,
  ]);
  return rows[0]?.name;
}

describe('migrations', () => {
  test('two at the same time wait for each other, both find the complete schema, and each migration runs once', async () => {
    // Without a pooler, like migrations, because they may wait longer than its statement timeout.
    const url = new URL(db.directUrl);
    url.pathname = `/twice_${randomBytes(4).toString('hex')}`;
    await ensureDatabase(url.href);
    const knex = openKnex({ url: url.href });
    const both = [openKnex({ url: url.href }), openKnex({ url: url.href })];
    // The advisory lock of migrations.
    const guard = await hold(knex, 'select pg_advisory_xact_lock(7310441)');
    const running = both.map((one) => migrate(connectionOf(one)));
    await until('both wait for the lock', async () => {
      const { rows } = await knex.raw(
        `select from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_xact_lock%' and pid <> pg_backend_pid()`,
      );
      return rows.length === 2;
    });
    await guard.release();
    const ran = await Promise.all(running);
    expect(ran.flat()).toEqual(MIGRATIONS.map(({ name }) => name));
    expect(ran.map(({ length }) => length)).toContain(0);
    await Promise.all([knex, ...both].map((one) => one.destroy()));
    await dropDatabase(url.href);
  });

  test('give every unique index the account id', async () => {
    const { rows } = await db.knex.raw(
      `
      select c.relname as index, array_agg(a.attname::text) as columns
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
      join pg_namespace n on n.oid = t.relnamespace and n.nspname = 'public'
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
      where i.indisunique and t.relname not like 'schema_migrations%' and not t.relname = any(?) group by 1`,
      // These tables belong to no account.
      [
        [
          'order_ranges',
          'dispatch_counter',
          'test_mode_clock',
          'dispatch_log',
          'users',
          'user_sessions',
          'user_credentials',
          'user_verifications',
          'invitations',
          'sign_in_attempts',
          'operator_changes',
          'password_resets',
          'unconfirmed_sign_ins',
          'portal_requests',
          'user_passkeys',
          'user_second_factors',
          'workers',
          // The audit trail is one chain, and its ids are given by Postgres.
          'audit_events',
          'audit_chain',
          'unchained_audit_events',
          'audit_chain_lock',
        ],
      ],
    );
    expect(rows.length).toBeGreaterThan(5);
    for (const { index, columns } of rows)
      expect({ index, columns }).toEqual({ index, columns: expect.arrayContaining(['account_id']) });
  });

  test('create no foreign key to a receipt', async () => {
    const { rows } = await db.knex.raw(
      "select conname from pg_constraint where contype = 'f' and confrelid::regclass::text like 'receipt%'",
    );
    expect(rows).toEqual([]);
  });
});

describe('partitions', () => {
  test('a receipt is stored in the partition of its week, and its body in the matching one', async () => {
    const now = receiptAt(Date.now());
    await record(now);
    expect(await tableOf(now.receiptId)).toMatch(/^receipts_\d{8}$/);
    const { rows } = await db.knex.raw(
      'select tableoid::regclass::text as name from receipt_payloads where batch_id = ?',
      [now.receiptId],
    );
    expect(rows[0].name).toBe((await tableOf(now.receiptId)).replace('receipts', 'receipt_payloads'));
  });

  test('rows in the default partition move when their week gets a partition', async () => {
    const farAhead = Date.now() + 100 * DAY;
    const early = receiptAt(farAhead);
    await record(early);
    expect(await tableOf(early.receiptId)).toBe('receipts_default');
    expect((await createPartitions(db.db, farAhead)).length).toBeGreaterThan(0);
    expect(await tableOf(early.receiptId)).toMatch(/^receipts_\d{8}$/);
    expect(await findReceipt(database, 1, early.receiptId)).toMatchObject({ state: 'received' });
    expect(await createPartitions(db.db, farAhead)).toEqual([]);
  });

  test('a partition is dropped when all its receipts are final and older than the retention, and not before', async () => {
    const then = Date.now() - 200 * DAY;
    await createPartitions(db.db, then);
    const [old, kept] = [receiptAt(then), receiptAt(then + 14 * DAY)];
    await record(old, kept);
    const retain = (days: number) => dropOldPartitions(db.db, days * DAY);
    expect((await retain(90)).kept).toEqual(
      expect.arrayContaining([await tableOf(old.receiptId), await tableOf(kept.receiptId)]),
    );
    await settle(old, kept);
    for (const { receiptId } of [old, kept])
      await db.knex('changed_deliveries').insert({ account_id: 1, order_id: 1, receipt_id: receiptId, changes: '[]' });
    const [pastItsTime, inItsTime] = [await tableOf(old.receiptId), await tableOf(kept.receiptId)];
    expect((await retain(190)).dropped).toContain(pastItsTime);
    await removeLeftovers(db.db);
    expect(await findReceipt(database, 1, old.receiptId)).toBeNull();
    expect(await tableOf(kept.receiptId)).toBe(inItsTime);
    const { rows } = await db.knex.raw('select 1 from receipt_payloads where batch_id = ?', [old.receiptId]);
    expect(rows).toEqual([]);
    const resends = await db
      .knex('changed_deliveries')
      .whereIn('receipt_id', [old.receiptId, kept.receiptId])
      .pluck('receipt_id');
    expect(resends).toEqual([kept.receiptId]);
  });
});

test('a week is kept while the week before it is kept, because it may contain bodies of that week', async () => {
  const then = Date.now() - 400 * DAY;
  await createPartitions(db.db, then);
  const pending = receiptAt(then);
  await record(pending);
  const weeks = async () => (await dropOldPartitions(db.db, 365 * DAY)).kept;
  expect((await weeks()).length).toBeGreaterThan(1);
  await settle(pending);
  expect(await weeks()).toEqual([]);
});

test('a week is not dropped while a receipt of it is being redriven', async () => {
  const then = Date.now() - 300 * DAY;
  await createPartitions(db.db, then);
  const dead = receiptAt(then);
  await record(dead);
  await settle(dead);
  await db.knex('receipts').where({ receipt_id: dead.receiptId }).update({ state: 'dead' });
  const redrive = await db.knex.transaction();
  expect(await redriveReceipts(connectionOf(redrive), [dead.receiptId])).toEqual([dead.receiptId]);
  const dropping = dropOldPartitions(db.db, 290 * DAY);
  await whoWait(db.knex, 1, 'advisory');
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
  [Object.assign(new Error('x'), { code: '23505', severity: 'ERROR', constraint: 'orders_0_pkey' }), 'infrastructure'],
  [Object.assign(new Error('x'), { code: '57P01', severity: 'FATAL' }), 'infrastructure'],
  [Object.assign(new Error('x'), { code: '42P01', severity: 'ERROR' }), 'unknown'],
])('the cause of an error, %#: %s', (error, fault) => {
  expect(faultOf(error)).toBe(fault);
});

describe('leases and outbox rows', () => {
  const incoming = (sourceOrderId: string, time = Date.now()) => receiptAt(time, { sourceOrderId });
  const idsOf = (receipts: IncomingReceipt[]) => receipts.map(({ receiptId }) => receiptId);
  const claim = async (receipts: IncomingReceipt[], leaseId: string, from = database) =>
    (await claimReceipts(from, idsOf(receipts), leaseId, 60_000)).map(({ receiptId }) => receiptId);
  const write = (leaseId: string | null, batchId: string, receipts: IncomingReceipt[]) =>
    writeOrders(
      database,
      leaseId,
      [batchId],
      receipts.map(({ receiptId, accountId, sourceOrderId }) => ({
        ...normalizeSent({ source_order_id: sourceOrderId }),
        receiptId,
        accountId,
      })),
    );
  const rowOf = ({ receiptId }: IncomingReceipt) => db.knex('receipts').where({ receipt_id: receiptId }).first();
  const outboxIdsOf = async (batchId: string): Promise<string[][]> => {
    const lists: string[][] = await db.knex('outbox').where({ batch_id: batchId }).pluck('receipt_ids');
    return lists.map((receiptIds) => receiptIds.toSorted((a, b) => (a < b ? -1 : 1)));
  };

  test('a worker that lost its lease to another changes nothing', async () => {
    const receipt = incoming('lease-lost');
    await record(receipt);
    const [slow, other] = [randomUUID(), randomUUID()];
    expect(await claim([receipt], slow)).toEqual([receipt.receiptId]);
    await db
      .knex('receipts')
      .where({ receipt_id: receipt.receiptId })
      .update({ lease_expires_at: new Date(0) });
    expect(await claimAlone(database, receipt.receiptId, other, 60_000, 3)).toMatchObject({ attempts: 0 });
    const held = await rowOf(receipt);
    expect(await write(slow, receipt.receiptId, [receipt])).toEqual({ written: [], duplicates: [], cancelledIds: [] });
    const error = { code: 'write_refused', sqlstate: null, constraint: null };
    const attempt = { receiptId: receipt.receiptId, leaseId: slow, delayMs: 0, maxAttempts: 1, error, warnings: [] };
    expect(await failReceipt(database, attempt)).toBeNull();
    await releaseLease(database, [receipt.receiptId], slow);
    expect(await rowOf(receipt)).toEqual(held);
    expect(await write(other, receipt.receiptId, [receipt])).toMatchObject({ written: [{}] });
  });

  test('a failed attempt is repeated if the order exists, so that it is compared, and the last one ends as a duplicate', async () => {
    const [first, again] = [incoming('failing-again'), incoming('failing-again')];
    await record(first);
    const leases = [randomUUID(), randomUUID(), randomUUID()] as [string, string, string];
    await claim([first], leases[0]);
    const { written } = await write(leases[0], first.receiptId, [first]);
    await record(again);
    const error = { code: 'write_refused', sqlstate: null, constraint: null };
    const attempt = { receiptId: again.receiptId, delayMs: 0, maxAttempts: 2, error, warnings: [] };
    await claim([again], leases[1]);
    expect(await failReceipt(database, { ...attempt, leaseId: leases[1] })).toMatchObject({ state: 'failed' });
    await claim([again], leases[2]);
    expect(await failReceipt(database, { ...attempt, leaseId: leases[2] })).toMatchObject({ state: 'duplicate' });
    expect(await db.knex('changed_deliveries').where({ receipt_id: again.receiptId })).toEqual([
      expect.objectContaining({ account_id: 1, order_id: written[0]?.orderId, changes: null }),
    ]);
  });

  test('a claim skips receipts that another claim holds, without waiting', async () => {
    const [held, free] = [incoming('claim-held'), incoming('claim-free')];
    await record(held, free);
    const shortTimeouts = openDatabase({ url: db.directUrl, poolSize: 1, prepared: true, queryTimeout: 60_000 });
    const other = await db.knex.transaction();
    try {
      await other('receipts').where({ receipt_id: held.receiptId }).forUpdate();
      expect(await claim([held, free], randomUUID(), shortTimeouts)).toEqual([free.receiptId]);
    } finally {
      await other.rollback();
      await closeDatabase(shortTimeouts);
    }
    expect(await claim([held, free], randomUUID())).toEqual([held.receiptId]);
  });

  test('an outbox row that another session changes while it is settled does not crash Postgres (version 18 did)', async () => {
    const receipts = [incoming('settled-twice-1'), incoming('settled-twice-2')];
    const batchId = receipts[0]?.receiptId as string;
    const receiptIds = await record(...receipts);
    const other = await db.knex.transaction();
    await other('outbox').where({ batch_id: batchId }).update({ due_at: new Date() });
    const settling = settleBatch(database, batchId, 0);
    await whoWait(db.knex, 1, 'transactionid');
    await other.commit();
    await settling;
    expect(await outboxIdsOf(batchId)).toEqual([receiptIds]);
  });

  test('a receipt that must run alone is in no batch, even when it is returned or due again', async () => {
    const [suspect, valid] = [incoming('suspect'), incoming('sound')];
    await record(suspect, valid);
    await db.knex('receipts').where({ receipt_id: suspect.receiptId }).update({ runs_alone: true });
    expect(await claim([suspect, valid], randomUUID())).toEqual([valid.receiptId]);
    expect(await findSuspects(database, idsOf([suspect, valid]))).toEqual([suspect.receiptId]);
  });

  test('receipts are claimed in the order received, whatever the order of their ids', async () => {
    const now = Date.now();
    // By id, by position in the table and in the wake-up, the second is before the first.
    const [first, second] = [incoming('first-wins', now), incoming('first-wins', now - 1000)];
    await record(second);
    await record(first);
    const anHourAgo = new Date(now - 3_600_000);
    await db.knex('receipts').where({ receipt_id: first.receiptId }).update({ received_at: anHourAgo });
    expect(await claim([second, first], randomUUID())).toEqual(idsOf([first, second]));
  });

  test('receipts of one batch are claimed in order too, although they have the same receive time', async () => {
    const batch = Array.from({ length: 20 }, (_, index) => incoming(`same-moment-${index}`)).toSorted((a, b) =>
      a.receiptId < b.receiptId ? 1 : -1,
    );
    await record(...batch);
    expect(await claim(batch, randomUUID())).toEqual(idsOf(batch));
  });

  test('each receipt of a batch gets its own body, also if keys of other receipts were taken', async () => {
    const keyed = (name: string, accountId: number) => ({
      ...incoming(name),
      accountId,
      idempotencyKey: `${name}-key`,
      body: Buffer.from(JSON.stringify({ source_order_id: name, filler: name.repeat(accountId + name.length) })),
    });
    const taken = [keyed('body-b', 2), keyed('body-d', 1)];
    await record(...taken);
    const [b, d] = ['body-b', 'body-d'].map((name, index) => keyed(name, 2 - index)) as [
      IncomingReceipt,
      IncomingReceipt,
    ];
    const fresh = ['body-a', 'body-c', 'body-e', 'body-f'].map((name, index) => keyed(name, 1 + (index % 3)));
    const [a, c, e, f] = fresh as [IncomingReceipt, IncomingReceipt, IncomingReceipt, IncomingReceipt];
    const stored = await record(a, b, c, d, e, f);
    expect(new Set(stored)).toEqual(new Set(idsOf(fresh)));
    const claimed = await claimReceipts(database, stored, randomUUID(), 60_000);
    expect(new Map(claimed.map(({ receiptId, body }) => [receiptId, String(body)]))).toEqual(
      new Map(fresh.map(({ receiptId, body }) => [receiptId, String(body)])),
    );
    for (const { receiptId, body } of fresh) expect((await findReceiptRecord(db.db, receiptId))?.body).toEqual(body);
    // An erasure could not find these bodies, because no receipt refers to them.
    const batches = await db.knex('receipt_payloads').where({ batch_id: a.receiptId }).pluck('bodies');
    expect(batches).toHaveLength(3);
    for (const refused of ['body-b', 'body-d'])
      expect(Buffer.concat(batches).toString('latin1')).not.toContain(refused);
  });

  test.each([
    ['nothing', {}, true],
    ['a claim', { state: 'normalized', lease_id: randomUUID() }, false],
    ['a claim that was released', { state: 'normalized' }, false],
    ['a failed attempt', { state: 'failed' }, false],
    ['another worker that wrote it', { state: 'written' }, false],
    ['a crash of its worker', { runs_alone: true }, false],
    ['an erasure', { erased_at: new Date() }, false],
  ])('a receipt that was read without a lease, and after that %s: %j, is written: %j', async (_, change, isWritten) => {
    const receipt = incoming(`read-${JSON.stringify(change)}`);
    await record(receipt);
    const read = await readNewReceipts(database, [receipt.receiptId]);
    expect(read).toEqual([{ receiptId: receipt.receiptId, accountId: 1, attempts: 0, body: receipt.body }]);
    if (Object.keys(change).length > 0)
      await db.knex('receipts').where({ receipt_id: receipt.receiptId }).update(change);
    expect((await readNewReceipts(database, [receipt.receiptId])).length).toBe(isWritten ? 1 : 0);
    const before = await rowOf(receipt);
    expect((await write(null, receipt.receiptId, [receipt])).written).toHaveLength(isWritten ? 1 : 0);
    const orders = await db.knex('orders').where({ receipt_id: receipt.receiptId });
    expect(orders).toHaveLength(isWritten ? 1 : 0);
    const row = await rowOf(receipt);
    if (isWritten) expect(row).toMatchObject({ state: 'written', attempts: 1, normalized_at: row.updated_at });
    else expect(row).toEqual(before);
  });

  test('a lease moves no receipt that is not under it, also if it is new', async () => {
    const receipt = incoming('not-claimed');
    await record(receipt);
    expect((await write(randomUUID(), receipt.receiptId, [receipt])).written).toEqual([]);
    expect(await rowOf(receipt)).toMatchObject({ state: 'received', order_id: null });
  });

  test('recording other receipts does not delete an outbox row', async () => {
    const [a, b] = [incoming('stands'), incoming('other')];
    await record(a);
    await record(b);
    const leaseId = randomUUID();
    await claim([b], leaseId);
    expect(await write(leaseId, a.receiptId, [b])).toMatchObject({ written: [{}] });
    expect(await outboxIdsOf(a.receiptId)).toEqual([[a.receiptId]]);
  });

  test('a statement with two orders under one key is rejected whole', async () => {
    const batch = [incoming('twice'), incoming('twice'), incoming('neighbour')];
    await record(...batch);
    const leaseId = randomUUID();
    await claim(batch, leaseId);
    await expect(write(leaseId, (batch[0] as IncomingReceipt).receiptId, batch)).rejects.toThrow(
      expect.objectContaining({ code: '23505' }),
    );
    for (const receipt of batch) expect(await rowOf(receipt)).toMatchObject({ state: 'normalized', order_id: null });
  });

  test('the outbox row stays until all of its receipts are final', async () => {
    // Later receipts have smaller ids than earlier ones.
    const batch = ['outbox-a', 'outbox-b', 'outbox-c'].map((name, index) => incoming(name, Date.now() - index));
    const [a, b, c] = batch as [IncomingReceipt, IncomingReceipt, IncomingReceipt];
    const whole = { batchId: a.receiptId, receiptIds: await record(...batch) };
    const work = async (receipt: IncomingReceipt) => {
      const leaseId = randomUUID();
      await claim([receipt], leaseId);
      expect(await write(leaseId, whole.batchId, [receipt])).toMatchObject({ written: [{}] });
    };
    await work(a);
    await work(b);
    expect(await outboxIdsOf(whole.batchId)).toEqual([whole.receiptIds]);
    await settleBatch(database, whole.batchId, 0);
    expect(await outboxIdsOf(whole.batchId)).toEqual([[c.receiptId]]);
    await work(c);
    await settleBatch(database, whole.batchId, 0);
    expect(await outboxIdsOf(whole.batchId)).toEqual([]);
  });
});

test('idempotency keys are removed after their retention, and then the key can be used again', async () => {
  const first = receiptAt(Date.now(), { idempotencyKey: 'old' });
  await record(first);
  const second = receiptAt(Date.now(), { idempotencyKey: 'old' });
  expect(await record(second)).toEqual([]);
  expect(await removeOldIdempotencyKeys(db.db, DAY)).toBe(0);
  await db
    .knex('idempotency_keys')
    .where({ idempotency_key: 'old' })
    .update({ created_at: new Date(Date.now() - 2 * DAY) });
  expect(await removeOldIdempotencyKeys(db.db, DAY)).toBe(1);
  expect(await record(second)).toEqual([second.receiptId]);
});

describe('signing secrets', () => {
  const key = randomBytes(32);

  test('cannot be read at rest, with another key, or in the row of another account', async () => {
    const { knex } = db;
    const [a, b] = await knex('accounts')
      .insert([{ name: 'a' }, { name: 'b' }])
      .returning('account_id');
    const { secret } = await enableSigning(connectionOf(knex), key, a.account_id);
    const { sealed } = await knex('signing_secrets').where({ account_id: a.account_id }).first();
    expect(sealed.toString('latin1')).not.toContain(secret);
    await expect(showSigning(connectionOf(knex), randomBytes(32), a.account_id)).rejects.toThrow();
    await knex('signing_secrets').insert({ account_id: b.account_id, sealed });
    await expect(showSigning(connectionOf(knex), key, b.account_id)).rejects.toThrow();
  });

  test('are both valid on the webhook route during the overlap of a rotation', () =>
    withStack('postgres', async (stack) => {
      const { api } = await stack.intake();
      const account = await stack.account({ signing: true });
      const rotated = await rotateSigning(stack.database.db, stack.secretsKey, account.id, 3_600_000);
      for (const secret of [account.secret, rotated?.secret as string]) {
        expect((await api.webhook({ ...account, secret }, { source_order_id: 'r' })).status).toBe(202);
      }
      const again = await rotateSigning(stack.database.db, stack.secretsKey, account.id, 0);
      const other = await stack.intake();
      expect((await other.api.webhook({ ...account, secret: rotated?.secret as string }, {})).body.code).toBe(
        'invalid_signature',
      );
      expect((await other.api.webhook({ ...account, secret: again?.secret as string }, {})).body.code).toBe(
        'validation_failed',
      );
    }));
});

describe('dispatchable_orders', () => {
  const reviewOne = (knex: Knex, id: number, to: ReviewDecision) =>
    reviewOrders(connectionOf(knex), { accountId: 1, orderIds: [id], to, by: 'test' });
  const visible = async (): Promise<[position: number, orderId: number][]> =>
    (await db.knex('dispatchable_orders').orderBy('position').select('position', 'order_id')).map(
      ({ position, order_id }) => [position, order_id],
    );
  const endUndoTime = (...ids: number[]) => makeReviewOlder(db.knex, ids, 60);

  test('shows confirmed orders only after the undo time, at positions without gaps', async () => {
    const [waiting, confirmed, rejected, later] = (await insertOrders(db.knex, 1, 4)) as [
      number,
      number,
      number,
      number,
    ];
    for (const id of [confirmed, later]) await reviewOne(db.knex, id, 'confirmed');
    await reviewOne(db.knex, rejected, 'rejected');
    await makeReviewOlder(db.knex, [confirmed, later], -3600);
    expect(await dispatchOrders(db.db)).toEqual({ count: 0, hasMore: false });
    expect(await visible()).toEqual([]);
    await makeReviewOlder(db.knex, [confirmed], 3660);
    expect(await dispatchOrders(db.db)).toEqual({ count: 1, hasMore: false });
    expect(await visible()).toEqual([[1, confirmed]]);
    await makeReviewOlder(db.knex, [later], 3660);
    await dispatchOrders(db.db);
    expect(await visible()).toEqual([
      [1, confirmed],
      [2, later],
    ]);
    expect(waiting).toBeLessThan(confirmed);
  });

  test('shows nothing behind a cursor later, also if a confirmation commits late', async () => {
    const before = await visible();
    const [slow, quick] = (await insertOrders(db.knex, 1, 2)) as [number, number];
    const trx = await db.knex.transaction();
    await reviewOne(trx, slow, 'confirmed');
    await reviewOne(db.knex, quick, 'confirmed');
    await endUndoTime(quick);
    await dispatchOrders(db.db);
    const shown = await visible();
    expect(shown).toEqual([...before, [before.length + 1, quick]]);
    await trx.commit();
    await endUndoTime(slow);
    await dispatchOrders(db.db);
    expect(await visible()).toEqual([...shown, [shown.length + 1, slow]]);
  });

  test('gives positions in one transaction at a time', async () => {
    const ids = await insertOrders(db.knex, 1, 5);
    for (const id of ids) await reviewOne(db.knex, id, 'confirmed');
    await endUndoTime(...ids);
    const before = await visible();
    // Another publisher that has given positions and not committed.
    const held = await hold(db.knex, `select pg_advisory_xact_lock(${PUBLISH_LOCK})`);
    expect(await dispatchOrders(db.db)).toEqual({ count: 0, hasMore: false });
    await held.release();
    expect(await dispatchOrders(db.db, 2)).toEqual({ count: 2, hasMore: true });
    expect(await dispatchOrders(db.db, 5)).toEqual({ count: 3, hasMore: false });
    expect(await visible()).toEqual([...before, ...ids.map((id, index) => [before.length + 1 + index, id])]);
  });

  test('waits for no confirmation that is being taken back', async () => {
    const [taken, other] = (await insertOrders(db.knex, 1, 2)) as [number, number];
    for (const id of [taken, other]) await reviewOne(db.knex, id, 'confirmed');
    await endUndoTime(taken, other);
    const taking = await hold(db.knex, `select keep_from_dispatch(1, ${taken})`);
    await dispatchOrders(db.db);
    expect((await visible()).at(-1)?.[1]).toBe(other);
    await taking.release();
    await dispatchOrders(db.db);
    expect((await visible()).map(([, id]) => id)).not.toContain(taken);
  });
});

test('a transaction whose process stops between two statements is ended by Postgres, and its locks are released', async () => {
  const stopped = openKnex({ url: db.directUrl, queryTimeout: 300, prepared: true });
  const isFree = () =>
    db.knex
      .transaction((other) => other('activity_clock').forUpdate().noWait().select())
      .then(
        () => true,
        () => false,
      );
  const work = stopped.transaction(async (trx) => {
    await trx('activity_clock').update({ computed_to: new Date() });
    await until('its lock is free', isFree);
  });
  await expect(work).rejects.toThrow();
  expect(await db.knex('activity_clock').pluck('computed_to')).toEqual([new Date(0)]);
  await stopped.destroy();
});

test('a connection that breaks inside a transaction rolls it back and ends no process', async () => {
  const PING = { name: 'ping', text: 'select pg_backend_pid() as pid' };
  const direct = openDatabase({ url: db.directUrl, poolSize: 1, prepared: true });
  const ends = async (pid: number) => {
    await db.knex.raw('select pg_terminate_backend(?)', [pid]);
    const { rows } = await db.knex.raw('select 1 from pg_stat_activity where pid = ?', [pid]);
    return rows.length === 0;
  };
  for (const work of [
    (body: (connection: Connection) => Promise<unknown>) => inTransaction(direct, body),
    (body: (connection: Connection) => Promise<unknown>) => inRolledBackTransaction(direct, {}, body),
  ]) {
    const broken = work(async (connection) => {
      const [{ pid }] = (await run<{ pid: number }>(connection, PING, [])) as [{ pid: number }];
      await until('the backend is gone', () => ends(pid));
      await run(connection, PING, []);
    });
    await expect(broken).rejects.toThrow();
    expect(await run(direct, PING, [])).toHaveLength(1);
  }
  await closeDatabase(direct);
});

test('without named statements, as behind a pooler in transaction mode, orders are written', () =>
  withStack('postgres', async (stack) => {
    const { api } = await stack.intake({ PG_PREPARED: 'off' });
    await stack.worker({ PG_PREPARED: 'off' });
    const account = await stack.account();
    expect(await api.process(account, { source_order_id: 'unprepared' })).toMatchObject({ status: 'written' });
  }));
