import { randomUUIDv7 } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { listBusyAccounts } from '@orders/cli/list-busy-accounts.ts';
import { faultOf } from '@orders/database/database-errors.ts';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { findReceipt } from '@orders/database/receipts/find-receipt.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { firstUuidAt } from '@orders/database/receipts/uuids.ts';
import { readActivity } from '@orders/portal/overview/read-activity.ts';
import { until } from '@orders/test-services/until.ts';
import { dropOldPartitions } from '@orders/worker/maintenance/drop-partitions.ts';
import { removeOldIdempotencyKeys } from '@orders/worker/maintenance/remove-idempotency-keys.ts';
import { type Hold, hold, whoWait } from '../harness/barriers.ts';
import { QUEUE_KINDS } from '../harness/queue.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { startSteadyLoad } from '../harness/steady-load.ts';
import { useStack } from '../harness/use-stack.ts';

const DAY = 24 * 3_600_000;
const WEEK = 7 * DAY;
const [KIND = 'postgres'] = QUEUE_KINDS;

// Each test has a database without the partitions of other tests.
const { stack, knex, db } = useStack({ stack: 'each test', queue: KIND });

const names = async (pattern: string): Promise<string[]> => {
  const { rows } = await knex.raw(
    "select relname as name from pg_class where relkind = 'r' and relname like ? order by 1",
    [pattern],
  );
  return rows.map(({ name }: { name: string }) => name);
};

/** Inserts receipts of a given time and their bodies by SQL, without outbox rows. */
const storeFinal = (count: number, from: number, spreadMs: number) =>
  knex.raw(
    `with made as (
       select overlay(gen_random_uuid()::text placing to_char.hex from 1 for 13)::uuid as id
       from generate_series(0, :count - 1) as i
       cross join lateral (
         select lpad(to_hex(ms >> 16), 8, '0') || '-' || lpad(to_hex(ms & 65535), 4, '0') as hex
         from (select :from::bigint + i::bigint * :spread / :count as ms) as time
       ) as to_char
     ), bodies as (
       insert into receipt_payloads (batch_id, account_id, bodies) select id, 1, '{}'::bytea from made
     )
     insert into receipts (receipt_id, account_id, state, channel, source_order_id, batch_id, body_start, body_length)
     select id, 1, 'written', 'rest', id::text, id, 1, 2 from made`,
    { count, from, spread: spreadMs },
  );

const startOfWeek = (daysAgo: number) => Math.floor((Date.now() - daysAgo * DAY) / WEEK) * WEEK;

/** The retention that ends at that time or shortly after it. */
const keptSince = (time: number) => Date.now() - time - 60_000;

async function makeOldWeeks(weeks: number): Promise<void> {
  const then = Date.now() - 300 * DAY;
  for (let week = 0; week < weeks; week += 5) await createPartitions(db, then + week * WEEK);
}

describe('dropping a partition', () => {
  test.each(['on', 'off'])('rejects no order with an idempotency key, prepared statements %s', async (prepared) => {
    await makeOldWeeks(5);
    const { api } = await stack.intake({ PG_PREPARED: prepared });
    const account = await stack.account();
    const load = startSteadyLoad(
      Array.from({ length: 16 }, () => (id: string) => {
        return api.order(account, { source_order_id: id }, { 'Idempotency-Key': id });
      }),
      { restMs: 0 },
    );
    await load.untilAccepted(50);
    const { dropped, kept } = await dropOldPartitions(db, 100 * DAY);
    await load.untilAccepted(50);
    await load.stop();
    expect(kept).toEqual([]);
    expect(dropped).toHaveLength(10);
    expect(Object.fromEntries(load.ledger.failed)).toEqual({});
  });

  test('is finished by the next run if it was interrupted', async () => {
    await makeOldWeeks(1);
    const [receipts] = await names('receipts\\_2%');
    await knex.raw('drop table ??', [receipts as string]);
    expect((await dropOldPartitions(db, 100 * DAY)).dropped).toContain(
      receipts?.replace('receipts', 'receipt_payloads'),
    );
    expect(await names('receipt%')).toHaveLength((await names('receipts\\_%')).length * 2);
  });

  test('waits for an open reader only briefly at a time, so that senders are not blocked', async () => {
    await makeOldWeeks(1);
    const { api } = await stack.intake();
    const account = await stack.account();
    const reader = await hold(knex, 'select from receipts limit 1');
    const stopping = new AbortController();
    const dropping = dropOldPartitions(db, 100 * DAY, stopping.signal).catch((error) => error);
    for (const attempt of ['first', 'second']) {
      await whoWait(knex, 1, 'relation');
      // This waits behind the drop, which waits for the reader.
      expect((await api.order(account, { source_order_id: attempt })).status).toBe(202);
    }
    stopping.abort();
    expect(await dropping).toMatchObject({ code: '55P03' });
    await reader.release();
  });

  test('counts from the newest receipt, so that a clock far ahead drops nothing', async () => {
    for (const daysAgo of [200, 150]) await createPartitions(db, startOfWeek(daysAgo));
    await storeFinal(10, startOfWeek(200), 1000);
    await storeFinal(10, startOfWeek(150), 1000);
    // The clock seems to be 150 days ahead of the newest receipt.
    expect((await dropOldPartitions(db, 100 * DAY)).dropped).toEqual([]);
    await storeFinal(1, Date.now(), 1);
    await dropOldPartitions(db, 100 * DAY);
    expect(await knex('receipts').pluck('receipt_id')).toHaveLength(1);
  });

  test('does not read the dropped week', async () => {
    const then = startOfWeek(200);
    await createPartitions(db, then);
    await storeFinal(50_000, then, WEEK / 2);
    await storeFinal(1, Date.now(), 1);
    const rowsRead = async () => {
      await knex.raw('select pg_stat_force_next_flush()');
      const { rows } = await knex.raw(
        'select tup_returned as read from pg_stat_database where datname = current_database()',
      );
      return Number(rows[0].read);
    };
    const before = await rowsRead();
    expect((await dropOldPartitions(db, keptSince(then + WEEK))).dropped).toHaveLength(2);
    expect((await rowsRead()) - before).toBeLessThan(25_000);
  });

  test('never happens while one of its receipts is pending: recorded, failed, redriven, or being recorded', async () => {
    const then = startOfWeek(200);
    await createPartitions(db, then);
    const database = stack.openDatabase();
    const receiptId = randomUUIDv7().replace(/^.{14}/, `${firstUuidAt(then).slice(0, 14)}`);
    const receipt = { receiptId, accountId: 1, channel: 'rest' as const, sourceOrderId: 'x', idempotencyKey: null };
    const drop = () => dropOldPartitions(db, keptSince(then + WEEK));
    await storeFinal(1, Date.now(), 1);
    // The id of its batch is later than that of the receipt, as after a long pause of the intake process.
    await recordReceipts(database, randomUUIDv7(), 0, [{ ...receipt, body: Buffer.from('{}') }]);
    for (const state of ['received', 'normalized', 'failed']) {
      await knex('receipts').update({ state });
      expect((await drop()).kept).toHaveLength(1);
    }
    await knex('receipts').update({ state: 'dead' });
    await knex('outbox').delete();
    expect(await redriveReceipts(db, [receiptId])).toEqual([receiptId]);
    expect((await drop()).kept).toHaveLength(1);
    await knex('receipts').update({ state: 'written' });
    await knex('outbox').delete();

    const recording = await knex.transaction();
    await recording.raw(
      `insert into receipts (receipt_id, account_id, channel, source_order_id, batch_id, body_start, body_length)
       select receipt_id, 2, channel, source_order_id, batch_id, body_start, body_length from receipts`,
    );
    await recording('outbox').insert({
      batch_id: receiptId,
      receipt_ids: [receiptId],
      account_ids: [2],
      due_at: new Date(),
    });
    const dropping = drop();
    await whoWait(knex, 1, 'relation');
    await recording.commit();
    expect((await dropping).kept).toHaveLength(1);
    expect(await findReceipt(database, 2, receiptId)).toMatchObject({ state: 'received' });
  });
});

describe('the default partition', () => {
  test('is emptied into partitions of the weeks of its rows, so that retention applies to them', async () => {
    await storeFinal(10, Date.now() - 120 * DAY, 20 * DAY);
    await storeFinal(10, Date.now() + 60 * DAY, 1000);
    expect(await knex('receipts_default').pluck('account_id')).toHaveLength(20);
    await createPartitions(db);
    expect(await knex('receipts_default')).toEqual([]);
    expect(await knex('receipt_payloads_default')).toEqual([]);
    await dropOldPartitions(db, 90 * DAY);
    expect(await knex('receipts').pluck('account_id')).toHaveLength(10);
    expect(await knex('receipt_payloads').pluck('account_id')).toHaveLength(10);
  });

  test('is emptied in portions if it has many rows, and every row stays readable', async () => {
    const then = startOfWeek(50);
    const rows = 51_000;
    await storeFinal(rows, then, WEEK);
    await storeFinal(1, Date.now(), 1);
    const before = await names('receipts\\_2%');
    let isOver = false;
    const making = createPartitions(db).finally(() => (isOver = true));
    const counts = new Set<number>();
    while (!isOver) {
      const found = await knex('receipts')
        .where('receipt_id', '<', firstUuidAt(then + WEEK))
        .count();
      counts.add(Number(found[0]?.count));
    }
    await making;
    expect([...counts]).toEqual([rows]);
    const made = (await names('receipts\\_2%')).filter((name) => !before.includes(name));
    expect(made).toHaveLength(2);
    for (const name of made) expect((await knex(name).pluck('account_id')).length).toBeLessThanOrEqual(50_001);
    expect(await createPartitions(db)).toEqual([]);
    expect((await dropOldPartitions(db, 30 * DAY)).dropped).toHaveLength(4);
  });

  test('is emptied later if orders arrive in it, and none is rejected', async () => {
    const { api } = await stack.intake();
    const account = await stack.account();
    for (const table of [...(await names('receipts\\_2%')), ...(await names('receipt_payloads\\_2%'))])
      await knex.raw('drop table ??', [table]);
    await storeFinal(3000, Date.now() - 100_000, 100_000);
    const load = startSteadyLoad(
      Array.from({ length: 8 }, () => (id: string) => api.order(account, { source_order_id: id })),
      { restMs: 0 },
    );
    await load.untilAccepted(20);
    await createPartitions(db);
    await load.untilAccepted(20);
    await load.stop();
    expect(Object.fromEntries(load.ledger.failed)).toEqual({});
    const left = await knex('receipts_default').count();
    expect(Number(left[0]?.count)).toBeGreaterThan(0);
    await createPartitions(db, Date.now() + 3_600_000);
    expect(await knex('receipts_default')).toEqual([]);
  });

  test('a row that arrives while its partition is attached causes a storage error and can be sent again', async () => {
    const { api } = await stack.intake();
    const account = await stack.account();
    for (const name of await names('receipts\\_2%')) await knex.raw('drop table ??', [name]);
    const attaching = await knex.transaction();
    await attaching.raw('create table receipts_now (like receipts including all)');
    await attaching.raw('lock table receipts_default in access exclusive mode');
    const sending = api.order(account, { source_order_id: 'meets the default partition' });
    await whoWait(knex, 1, 'relation');
    const [from, to] = [firstUuidAt(Date.now() - WEEK), firstUuidAt(Date.now() + WEEK)];
    // "create table … partition of" would wait for the order's own lock on receipts: a deadlock.
    await attaching.raw(`alter table receipts attach partition receipts_now for values from ('${from}') to ('${to}')`);
    await attaching.commit();
    expect(await sending).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
    expect(await api.order(account, { source_order_id: 'meets the default partition' })).toMatchObject({ status: 202 });
    const refused = await knex('receipts')
      .update({ state: 'no state' })
      .catch((error) => error);
    expect([refused.code, faultOf(refused)]).toEqual(['23514', 'receipt']);
  });
});

describe('expired idempotency keys', () => {
  const addKeys = (count: number, ageMs: string) =>
    db.pool.query(
      `insert into idempotency_keys (account_id, idempotency_key, receipt_id, created_at)
       select 1, gen_random_uuid()::text, gen_random_uuid(), now() - (${ageMs}) * interval '1 ms' from generate_series(1, $1) as i`,
      [count],
    );

  async function pagesRead(work: () => Promise<unknown>): Promise<number> {
    const { pool } = db;
    const read = async () => {
      // This flushes the right session, because a pool keeps one connection if only one is used at a time.
      await pool.query('select pg_stat_force_next_flush()');
      const { rows } = await pool.query(
        `select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit as pages
         from pg_statio_user_tables where relname = 'idempotency_keys'`,
      );
      return Number(rows[0].pages);
    };
    const before = await read();
    await work();
    return (await read()) - before;
  }

  test('are found without reading the whole table, also after several periods', async () => {
    await db.pool.query('alter table idempotency_keys set (autovacuum_enabled = off)');
    for (let cycle = 0; cycle < 3; cycle += 1) {
      await addKeys(20_000, `i % 2 * ${2 * DAY}`);
      await removeOldIdempotencyKeys(db, DAY);
      await db.pool.query('vacuum idempotency_keys');
    }
    const { rows } = await db.pool.query("select relpages from pg_class where relname = 'idempotency_keys'");
    expect(rows[0].relpages).toBeGreaterThan(200);
    const pages = await pagesRead(() => removeOldIdempotencyKeys(db, DAY));
    expect(pages).toBeLessThan(rows[0].relpages / 20);
  });

  /** Lets each removal of up to 5,000 keys wait at its end. */
  async function holdRemovals(): Promise<Hold> {
    await knex.raw(`
      create or replace function wait_here() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(80); return null; end $$;
      create or replace trigger wait_here after delete on idempotency_keys execute function wait_here()`);
    return hold(knex, 'select pg_advisory_xact_lock(80)');
  }
  const left = async () => Number((await knex('idempotency_keys').count())[0]?.count);

  test('are removed up to the start of the run, although more expire meanwhile', async () => {
    await knex('idempotency_keys').delete();
    await addKeys(6000, String(2 * DAY));
    const held = await holdRemovals();
    const removing = removeOldIdempotencyKeys(db, DAY);
    await whoWait(knex, 1, 'advisory');
    await addKeys(10, String(DAY));
    await held.release();
    expect(await removing).toBe(6000);
    expect(await left()).toBe(10);
  });

  test('are not removed further after the worker drains', async () => {
    await knex('idempotency_keys').delete();
    await addKeys(11_000, String(2 * DAY));
    const held = await holdRemovals();
    const worker = await stack.worker({ IDEMPOTENCY_TTL: '24h', DRAIN_TIMEOUT: '20m' });
    await whoWait(knex, 1, 'advisory');
    const closing = worker.close();
    await until('the worker drains', async () => (await fetch(`${worker.adminUrl}/health/ready`)).status === 503);
    await held.release();
    await closing;
    expect(await left()).toBe(6000);
  });
});

describe('the worker', () => {
  test('logs and counts a failing step of maintenance by its name, and does the others', async () => {
    await makeOldWeeks(1);
    await knex('sign_in_attempts').insert({ key: 'old', attempts: 1, window_to: new Date(0) });
    const reader = await hold(knex, 'select from receipts limit 1');
    const worker = await stack.worker();
    await until('sign-ins are removed', async () => (await knex('sign_in_attempts')).length === 0);
    await reader.release();
    expect(worker.log.lines).toContainEqual(
      expect.objectContaining({ message: 'maintenance step failed', step: 'drop_partitions' }),
    );
    const failures = (await readMetrics(worker.adminUrl)).get('worker_maintenance_failures_total')?.samples;
    expect(failures).toContainEqual(expect.objectContaining({ labels: { step: 'drop_partitions' }, value: 1 }));
  });

  test('counts the rows left in the default partitions', async () => {
    const then = startOfWeek(120);
    await storeFinal(3, then, 1000);
    // Tables that are in the way of their partitions.
    const name = new Date(then).toISOString().slice(0, 10).replaceAll('-', '');
    for (const table of ['receipts', 'receipt_payloads']) await knex.raw('create table ?? ()', [`${table}_${name}`]);
    const worker = await stack.worker();
    const counted = () => readMetrics(worker.adminUrl).then((shown) => gaugeOf(shown, 'worker_default_partition_rows'));
    await until('they are counted', async () => (await counted()) === 6);
  });
});

test('activity sums above the integer range are correct', async () => {
  const account = await stack.account();
  const most = 2 ** 31 - 1;
  const now = Math.floor(Date.now() / 300_000) * 300_000;
  for (const at of [now, now - 300_000, now - 600_000])
    await knex('activity').insert({
      account_id: account.id,
      bucket_start: new Date(at),
      accepted: most,
      written: most,
      latency_slots: [4],
      latency_counts: [most],
      warnings: JSON.stringify({ 'missing /total': most }),
    });
  const { totals, warnings } = await readActivity(db, account.id, { rangeMs: DAY, stepMs: DAY / 24 });
  expect(totals).toMatchObject({ accepted: 3 * most, written: 3 * most });
  expect(warnings).toEqual([{ code: 'missing', pointer: '/total', count: 3 * most }]);
  expect(await listBusyAccounts(db, { withinMs: DAY, limit: 1 })).toMatchObject([{ accepted: 3 * most }]);
});
