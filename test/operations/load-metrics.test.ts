import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Database } from '@orders/database/connect.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { readLoad } from '@orders/intake/observability/read-load.ts';
import { until } from '@orders/test-services/until.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import { failReceipt } from '@orders/worker/receipts/fail-receipt.ts';
import { settleBatch } from '@orders/worker/receipts/outbox.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { describeQueues, listJobs } from '../harness/queue.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { withStack } from '../harness/stack.ts';
import { useDatabase } from '../harness/use-stack.ts';

const OF_POSTGRES = ['orders_receipts_waiting', 'orders_receipts_dead', 'orders_oldest_waiting_seconds'];
const OF_QUEUE = ['orders_jobs_waiting', 'orders_jobs_active', 'orders_lane_jobs'];

describe('the pending work in Postgres', () => {
  const { db, database } = useDatabase();
  afterEach(() => db.knex.raw('truncate outbox, receipts, receipt_payloads, dead_letters'));

  async function store(count: number): Promise<{ batchId: string; receiptIds: string[] }> {
    const batchId = randomUUIDv7();
    const receipts = Array.from({ length: count }, () => newReceipt({ sourceOrderId: randomUUID() }));
    return { batchId, receiptIds: await recordReceipts(database, batchId, 10_000, receipts) };
  }

  /** Makes everything stored older. */
  const age = (seconds: number) =>
    db.knex.raw(
      `update receipts set received_at = received_at - :by::interval, updated_at = updated_at - :by::interval,
                           next_attempt_at = next_attempt_at - :by::interval`,
      { by: `${seconds} s` },
    );

  async function fail({ batchId, receiptIds }: { batchId: string; receiptIds: string[] }, maxAttempts = 8) {
    const leaseId = randomUUID();
    const error = { code: 'write_refused', sqlstate: null, constraint: null };
    await claimReceipts(database, receiptIds, leaseId, 60_000);
    for (const receiptId of receiptIds) {
      await failReceipt(database, { receiptId, leaseId, delayMs: 100_000_000, maxAttempts, error, warnings: [] });
    }
    await settleBatch(database, batchId, 10_000);
  }

  test('is 0 for empty tables', async () => {
    expect(await readLoad(database)).toEqual({ waiting: 0, dead: 0, oldestSeconds: 0 });
  });

  test('counts each receipt without a final state, and gives the age of the oldest due one', async () => {
    await store(3);
    await age(100_000);
    const { receiptIds } = await store(2);
    await claimReceipts(database, receiptIds, randomUUID(), 60_000);
    const { oldestSeconds, ...counts } = await readLoad(database);
    expect(counts).toEqual({ waiting: 5, dead: 0 });
    // A day passes before it is twice as old.
    expect(Math.floor(oldestSeconds / 100_000)).toBe(1);
  });

  test('counts a receipt that waits for another attempt, with the age since that attempt is due', async () => {
    await fail(await store(1));
    await db.knex('receipts').update({ received_at: new Date(0) });
    expect(await readLoad(database)).toEqual({ waiting: 1, dead: 0, oldestSeconds: 0 });
    await age(250_000);
    await db
      .knex('receipts')
      .update({ history: db.knex.raw("jsonb_set(history, '{0,failed_at}', to_jsonb(received_at))") });
    const { oldestSeconds } = await readLoad(database);
    // Of the 250,000 seconds since it failed, it waited 100,000 for the attempt.
    expect(Math.floor(oldestSeconds / 100_000)).toBe(1);
  });

  test('shows a due receipt behind many that wait for another attempt', async () => {
    for (let batch = 0; batch < 60; batch += 1) await fail(await store(1));
    const { receiptIds } = await store(1);
    await db
      .knex('receipts')
      .whereIn('receipt_id', receiptIds)
      .update({ received_at: new Date(0) });
    expect((await readLoad(database)).oldestSeconds).toBeGreaterThan(1e9);
  });

  test('shows the oldest receipt behind many that were just swept', async () => {
    const { receiptIds } = await store(1);
    await db
      .knex('receipts')
      .whereIn('receipt_id', receiptIds)
      .update({ received_at: new Date(0) });
    await db.knex('outbox').update({ due_at: db.knex.raw("now() + interval '1 hour'") });
    for (let batch = 0; batch < 60; batch += 1) await store(1);
    expect((await readLoad(database)).oldestSeconds).toBeGreaterThan(1e9);
  });

  test('excludes dead receipts, and a redriven receipt has the age since its redrive', async () => {
    const batch = await store(2);
    await fail(batch, 1);
    await db.knex('receipts').update({ received_at: new Date(0) });
    expect(await readLoad(database)).toEqual({ waiting: 0, dead: 2, oldestSeconds: 0 });
    await redriveReceipts(db.db, batch.receiptIds.slice(1));
    const { oldestSeconds, ...counts } = await readLoad(database);
    expect(counts).toEqual({ waiting: 1, dead: 1 });
    expect(oldestSeconds).toBeLessThan(100_000);
  });

  test.each([0, 1, 6, 7, 8, 100, 125, 126, 127, 500])('counts an outbox row with %i receipts', async (count) => {
    await insertOutboxRows(1, count);
    expect((await readLoad(database)).waiting).toBe(count);
  });

  test('reads the ids of large outbox rows only in the rows searched for the oldest receipt', async () => {
    await insertOutboxRows(300, 500);
    const toastReads = async () => {
      await database.pool.query('select pg_stat_force_next_flush()');
      const { rows } = await database.pool.query(`
        select idx_scan as count from pg_stat_all_tables
        where relid = (select reltoastrelid from pg_class where oid = 'outbox'::regclass)`);
      return rows[0].count as number;
    };
    const before = await toastReads();
    expect((await readLoad(database)).waiting).toBe(150_000);
    expect((await toastReads()) - before).toBeLessThanOrEqual(50);
  });

  /** Inserts outbox rows with `receipts` ids each, with neighbouring ids like those of one batch. */
  const insertOutboxRows = (count: number, receipts: number) =>
    db.knex('outbox').insert(
      Array.from({ length: count }, () => ({
        batch_id: randomUUIDv7(),
        receipt_ids: Array.from({ length: receipts }, () => randomUUIDv7()),
        account_ids: [1],
        due_at: new Date(),
      })),
    );

  test('costs the same for huge tables, also if planned for empty ones, and counts up to the documented limit', async () => {
    for (let time = 0; time < 6; time += 1) await readLoad(database);
    await db.knex.raw(`
      insert into outbox (batch_id, receipt_ids, account_ids, due_at)
      select uuidv7, array[uuidv7], array[1], now() from (select gen_random_uuid() as uuidv7 from generate_series(1, 30000)) as made`);
    await db.knex.raw(`
      insert into receipts (receipt_id, account_id, channel, source_order_id, batch_id, body_start, body_length)
      select batch_id, 1, 'rest', 'x', batch_id, 1, 1 from outbox`);
    await db.knex.raw(`
      insert into dead_letters (account_id, receipt_id, source_order_id, died_at)
      select 1, gen_random_uuid(), 'x', now() from generate_series(1, 30000)`);
    const before = await readsOf(database);
    expect(await readLoad(database)).toMatchObject({ waiting: 10_000, dead: 10_000 });
    const { sequential, byIndex } = await readsOf(database);
    expect(sequential - before.sequential).toBe(0);
    // Ten thousand rows of each table, and several hundred receipts.
    expect(byIndex - before.byIndex).toBeLessThan(22_000);
  });
});

async function readsOf({ pool }: Database): Promise<{ sequential: number; byIndex: number }> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query(`
    select (select sum(seq_tup_read) from pg_stat_user_tables) as sequential,
           (select sum(idx_tup_read) from pg_stat_user_indexes) as "byIndex"`);
  return { sequential: Number(rows[0].sequential), byIndex: Number(rows[0].byIndex) };
}

describeQueues('the load metrics of each intake, the queue on %s', (kind) => {
  test('include Postgres and the queue without any worker', () =>
    withStack(kind, async (stack) => {
      const [one, other] = [await stack.intake(), await stack.intake()];
      const account = await stack.account();
      for (let index = 0; index < 5; index += 1) await one.api.order(account, { source_order_id: `waits-${index}` });
      await until('the wake-ups have arrived', async () => (await listJobs(stack.queue.url)).length > 0);
      for (const { adminUrl } of [one, other]) {
        // A reading that takes longer than its timeout shows no values.
        const metrics = await until('the load is read', async () => {
          const shown = await readMetrics(adminUrl);
          const names = ['orders_receipts_waiting', 'orders_jobs_waiting'];
          return names.every((name) => gaugeOf(shown, name) !== undefined) && shown;
        });
        expect(gaugeOf(metrics, 'orders_receipts_waiting')).toBe(5);
        expect(gaugeOf(metrics, 'orders_jobs_waiting')).toBeGreaterThan(0);
        expect(gaugeOf(metrics, 'orders_oldest_waiting_seconds')).toBeGreaterThan(0);
        expect(gaugeOf(metrics, 'orders_receipts_dead')).toBe(0);
        expect(gaugeOf(metrics, 'orders_jobs_active')).toBe(0);
        const lanes = metrics.get('orders_lane_jobs')?.samples.map(({ labels }) => `${labels.lane} ${labels.state}`);
        expect(new Set(lanes)).toEqual(
          new Set(
            ['prompt', 'bulk'].flatMap((lane) => ['waiting', 'active', 'delayed'].map((state) => `${lane} ${state}`)),
          ),
        );
      }
    }));
});

describe('load metrics that cannot be read are absent, and all others are present', () => {
  const samplesOf = async (adminUrl: string, names: string[]) => {
    const metrics = await readMetrics(adminUrl);
    expect(gaugeOf(metrics, 'intake_orders_in_flight')).toBe(0);
    return names.flatMap((name) => metrics.get(name)?.samples ?? []);
  };

  test('if Postgres and the queue reject connections', () =>
    withStack('postgres', async (stack) => {
      const noDatabase = await stack.intake({ DATABASE_URL: 'postgres://orders:x@127.0.0.1:9/none' });
      const untilRead = (adminUrl: string, names: string[]) =>
        until('the others are read', async () => (await samplesOf(adminUrl, names)).length > 0);
      await untilRead(noDatabase.adminUrl, OF_QUEUE);
      expect(await samplesOf(noDatabase.adminUrl, OF_POSTGRES)).toEqual([]);
      const noQueue = await stack.intake({ QUEUE_URL: 'redis://127.0.0.1:9' });
      await untilRead(noQueue.adminUrl, OF_POSTGRES);
      expect(await samplesOf(noQueue.adminUrl, OF_QUEUE)).toEqual([]);
    }));

  test('if both accept connections and never reply', () =>
    withStack('postgres', async (stack) => {
      const sockets: Socket[] = [];
      const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as { port: number };
      const settings = {
        DATABASE_URL: `postgres://orders:x@127.0.0.1:${port}/none`,
        QUEUE_URL: `redis://127.0.0.1:${port}`,
      };
      const { adminUrl, close } = await stack.intake(settings);
      const readings = await Promise.all(
        Array.from({ length: 5 }, () => samplesOf(adminUrl, [...OF_POSTGRES, ...OF_QUEUE])),
      );
      expect(readings.flat()).toEqual([]);
      for (const socket of sockets) socket.destroy();
      silent.close();
      await close();
    }));
});
