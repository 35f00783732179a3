import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { NO_LOWER_BOUND } from '@orders/database/lower-bound.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { openProducer } from '@orders/queue/open-producer.ts';
import { startConsumer } from '@orders/queue/start-consumer.ts';
import type { WakeUp } from '@orders/queue/wake-up.ts';
import { createOutageLog } from '@orders/runtime/observability/logger.ts';
import { until } from '@orders/test-services/until.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import { createLeaseReleaser } from '../../apps/worker/src/lease-releaser.ts';
import { createMetrics } from '../../apps/worker/src/metrics.ts';
import { normalizeReceipts } from '../../apps/worker/src/normalize-receipts.ts';
import { processBatch } from '../../apps/worker/src/process-batch.ts';
import type { RecordFailure } from '../../apps/worker/src/record-failure.ts';
import { sweep } from '../../apps/worker/src/sweep.ts';
import { createWriteBatch } from '../../apps/worker/src/write-batch.ts';
import { memoryLog } from '../harness/log.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { describeQueues, startQueue } from '../harness/queue.ts';
import { useDatabase } from '../harness/use-stack.ts';

const { db, database } = useDatabase({ poolSize: 2, bulk: true });
const writeDeps = (recordFailure: RecordFailure, metrics = createMetrics()) => ({
  database,
  producer: { wakeUpLater: () => {} },
  leaseReleaser: createLeaseReleaser(database),
  recordFailure,
  metrics,
  logger: memoryLog('worker').logger,
});
let processWakeUps: (wakeUps: WakeUp[]) => Promise<void>;

beforeAll(async () => {
  const recordFailure: RecordFailure = (_batch, _receipt, error) => Promise.reject(error);
  const leaseReleaser = createLeaseReleaser(database);
  processWakeUps = processBatch({
    database,
    writeBatch: createWriteBatch(writeDeps(recordFailure)),
    recordFailure,
    leaseReleaser,
    onCrashLimit: () => {},
    tracing: null,
    leaseMs: 10_000,
    sweepAfterMs: 10_000,
  });
});

/** Stores orders in one batch. @returns its wake-up, as intake sends it. */
async function store(orders: object[], { accountId = 1, dueInMs = 10_000 } = {}): Promise<WakeUp> {
  const batchId = randomUUIDv7();
  const receipts = orders.map((order) => {
    const { source_order_id: sourceOrderId } = order as { source_order_id: string };
    return newReceipt({ accountId, sourceOrderId, body: Buffer.from(JSON.stringify(order)) });
  });
  const newBytes = receipts.reduce((sum, { body }) => sum + body.length, 0);
  return { batchId, receiptIds: await recordReceipts(database, batchId, dueInMs, receipts), newBytes };
}

const rowsOf = (wakeUp: WakeUp) => db.knex('receipts').whereIn('receipt_id', wakeUp.receiptIds);
/** Whether receipts became `normalized` in an earlier transaction than their final state. */
const wereClaimed = async (wakeUp: WakeUp) =>
  (await rowsOf(wakeUp).select(db.knex.raw('normalized_at < updated_at as claimed'))).map(({ claimed }) => claimed);

test('new receipts are written in the transaction that normalizes them', async () => {
  const wakeUp = await store([{ source_order_id: 'a' }, { source_order_id: 'b' }]);
  await processWakeUps([wakeUp]);
  expect(await rowsOf(wakeUp).pluck('state')).toEqual(['written', 'written']);
  expect(await wereClaimed(wakeUp)).toEqual([false, false]);
});

test('new receipts that take several statements are claimed, so that other workers leave them alone', async () => {
  const note = 'x'.repeat(250_000);
  const wakeUp = await store(Array.from({ length: 6 }, (_, index) => ({ source_order_id: `long-${index}`, note })));
  await processWakeUps([wakeUp]);
  expect(await rowsOf(wakeUp).pluck('state')).toEqual(Array(6).fill('written'));
  expect(await wereClaimed(wakeUp)).toEqual(Array(6).fill(true));
});

test('of a new receipt and an earlier one that is delivered again, the earlier one becomes the order', async () => {
  const earlier = await store([{ source_order_id: 'twice', total: '1' }]);
  const later = await store([{ source_order_id: 'twice', total: '2' }]);
  await processWakeUps([later, { ...earlier, newBytes: undefined }]);
  expect(await rowsOf(earlier).pluck('state')).toEqual(['written']);
  expect(await rowsOf(later).pluck('state')).toEqual(['duplicate']);
});

describeQueues('the queue on %s', (kind) => {
  test('the sweep takes all that is overdue, and beside a long queue the oldest of each account', async () => {
    const queue = await startQueue(kind, db.url);
    const producer = openProducer({ url: queue.url });
    const { logger } = memoryLog('worker');
    const metrics = createMetrics();
    const queueOutage = createOutageLog(logger, 'queue', 'test');
    const sweepOnce = () =>
      sweep(
        { database, bound: NO_LOWER_BOUND, producer, processWakeUps, queueOutage, leaseMs: 10_000, metrics, logger },
        new AbortController().signal,
      );
    const overdue = (accountId: number, name: string) =>
      store([{ source_order_id: `${kind}-${name}` }], { accountId, dueInMs: 0 });
    const countWritten = async (accountId: number) => (await db.knex('orders').where({ account_id: accountId })).length;
    const [flooding, polite] = kind === 'redis' ? [11, 12] : [21, 22];
    try {
      for (let count = 0; count < 250; count++) await overdue(flooding, `flood-${count}`);
      await overdue(polite, 'polite');
      // A job has at most 300 receipts, so each of these is one.
      const receiptIds = Array(300).fill(randomUUIDv7());
      for (let count = 0; count < 100; count++) producer.wakeUp('bulk', { batchId: randomUUIDv7(), receiptIds });
      await until('the queue is long', async () => (await producer.depth('bulk')) >= 100);
      await sweepOnce();
      expect(await countWritten(polite)).toBe(1);
      expect(await countWritten(flooding)).toBe(99);
      const consumer = startConsumer(async () => {}, {
        url: queue.url,
        lane: 'bulk',
        concurrency: 16,
        lockMs: 30_000,
        graceMs: 5_000,
        onError: () => {},
      });
      await until('the queue is short', async () => (await producer.depth('bulk')) === 0);
      await consumer.close();
      await sweepOnce();
      expect(await countWritten(flooding)).toBe(250);
    } finally {
      await producer.close();
      await queue.close();
    }
  });

  test('a slow job does not stop the others of its lane', async () => {
    const queue = await startQueue(kind, db.url);
    const producer = openProducer({ url: queue.url });
    const slow = Promise.withResolvers<void>();
    const begun: string[] = [];
    const consumer = startConsumer(
      async ([wakeUp]) => {
        begun.push(wakeUp?.batchId ?? '');
        if (wakeUp?.batchId === 'slow') await slow.promise;
      },
      { url: queue.url, lane: 'prompt', concurrency: 4, lockMs: 30_000, graceMs: 5_000, onError: () => {} },
    );
    try {
      producer.wakeUp('prompt', { batchId: 'slow', receiptIds: ['1'] });
      await until('the slow job began', async () => begun.includes('slow'));
      for (const batchId of ['second', 'third', 'fourth']) {
        producer.wakeUp('prompt', { batchId, receiptIds: [batchId] });
        await until(`the ${batchId} job began`, async () => begun.includes(batchId));
        // BullMQ has found the queue empty meanwhile.
        await sleep(200);
      }
    } finally {
      slow.resolve();
      await consumer.close();
      await producer.close();
      await queue.close();
    }
  });
});

beforeAll(async () => {
  await db.knex.raw(`
    create function refuse_poison() returns trigger language plpgsql as $$ begin raise exception 'poison'; end $$;
    create trigger refuse_poison before insert on orders for each row
    when (new.source_order_id like 'poison%') execute function refuse_poison()`);
});

test('orders that failed before are retried separately, and the others are written in one statement', async () => {
  const names = Array.from({ length: 60 }, (_, index) => (index % 20 === 10 ? `poison-${index}` : `order-${index}`));
  const batchId = randomUUIDv7();
  const receiptIds = await recordReceipts(
    database,
    batchId,
    10_000,
    names.map((sourceOrderId) => newReceipt({ sourceOrderId })),
  );
  const failed: string[] = [];
  const recordFailure: RecordFailure = async (_batch, { receiptId }) => void failed.push(receiptId);
  const metrics = createMetrics();
  const batch = { leaseId: randomUUID(), wakeUps: [{ batchId, receiptIds }], trace: null };
  const claimed = await claimReceipts(database, receiptIds, batch.leaseId, 10_000);
  const writable = (await normalizeReceipts(batch, claimed, { database, recordFailure })).map((order) => ({
    ...order,
    attempts: order.order.source_order_id.startsWith('poison') ? 1 : 0,
  }));

  await createWriteBatch(writeDeps(recordFailure, metrics))(batch, writable);

  expect(failed).toHaveLength(3);
  const sizes = (await metrics.batchSizes.get()).values;
  const figure = (name: string) => sizes.find(({ metricName }) => metricName === name)?.value;
  expect(figure('worker_batch_receipts_sum')).toBe(57);
  expect(figure('worker_batch_receipts_count')).toBe(1);
});

test('a body that moved while its receipt was claimed is read again, and only a missing body uses up an attempt', async () => {
  const batchId = randomUUIDv7();
  const [moved, missing] = [randomUUIDv7(), randomUUIDv7()];
  await recordReceipts(database, batchId, 10_000, [newReceipt({ receiptId: moved, sourceOrderId: 'moved' })]);
  const failed: string[] = [];
  const recordFailure: RecordFailure = async (_batch, { receiptId }) => void failed.push(receiptId);
  const batch = { leaseId: randomUUID(), wakeUps: [{ batchId, receiptIds: [moved, missing] }], trace: null };
  // The result of a claim whose statement began before the move.
  const claimed = [moved, missing].map((receiptId) => ({ receiptId, accountId: 1, attempts: 0, body: null }));
  const writable = await normalizeReceipts(batch, claimed, { database, recordFailure });
  expect(writable).toEqual([expect.objectContaining({ receiptId: moved, attempts: 0 })]);
  expect(failed).toEqual([missing]);
});
