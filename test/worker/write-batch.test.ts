import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import { createLeaseReleaser } from '../../apps/worker/src/lease-releaser.ts';
import { createMetrics } from '../../apps/worker/src/metrics.ts';
import { normalizeReceipts } from '../../apps/worker/src/normalize-receipts.ts';
import type { RecordFailure } from '../../apps/worker/src/record-failure.ts';
import { createWriteBatch } from '../../apps/worker/src/write-batch.ts';
import { memoryLog } from '../harness/log.ts';
import { useDatabase } from '../harness/use-database.ts';

const NO_QUEUE = { wakeUpLater: () => {} };

const { db, database } = useDatabase({ poolSize: 2 });

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
    names.map((sourceOrderId) => ({
      receiptId: randomUUIDv7(),
      accountId: 1,
      channel: 'rest',
      sourceOrderId,
      idempotencyKey: null,
      body: Buffer.from(JSON.stringify({ source_order_id: sourceOrderId })),
    })),
  );
  const failed: string[] = [];
  const recordFailure: RecordFailure = async (_batch, { receiptId }) => void failed.push(receiptId);
  const metrics = createMetrics();
  const { logger } = memoryLog('worker');
  const batch = { leaseId: randomUUID(), wakeUps: [{ batchId, receiptIds }], trace: null };
  const claimed = await claimReceipts(database, receiptIds, batch.leaseId, 10_000);
  const writable = (await normalizeReceipts(batch, claimed, { database, recordFailure })).map((order) => ({
    ...order,
    attempts: order.order.source_order_id.startsWith('poison') ? 1 : 0,
  }));

  const leaseReleaser = createLeaseReleaser(database);
  const deps = { database, producer: NO_QUEUE, leaseReleaser, recordFailure, metrics, logger };
  await createWriteBatch(deps)(batch, writable);

  expect(failed).toHaveLength(3);
  const sizes = (await metrics.batchSizes.get()).values;
  const figure = (name: string) => sizes.find(({ metricName }) => metricName === name)?.value;
  expect(figure('worker_batch_receipts_sum')).toBe(57);
  expect(figure('worker_batch_receipts_count')).toBe(1);
});

test('a body that moved while its receipt was claimed is read again, and only a missing body uses up an attempt', async () => {
  const batchId = randomUUIDv7();
  const [moved, missing] = [randomUUIDv7(), randomUUIDv7()];
  const body = Buffer.from('{"source_order_id":"moved"}');
  const receipt = { accountId: 1, channel: 'rest', sourceOrderId: 'moved', idempotencyKey: null, body } as const;
  await recordReceipts(database, batchId, 10_000, [{ ...receipt, receiptId: moved }]);
  const failed: string[] = [];
  const recordFailure: RecordFailure = async (_batch, { receiptId }) => void failed.push(receiptId);
  const batch = { leaseId: randomUUID(), wakeUps: [{ batchId, receiptIds: [moved, missing] }], trace: null };
  // The result of a claim whose statement began before the move.
  const claimed = [moved, missing].map((receiptId) => ({ receiptId, accountId: 1, attempts: 0, body: null }));
  const writable = await normalizeReceipts(batch, claimed, { database, recordFailure });
  expect(writable).toEqual([expect.objectContaining({ receiptId: moved, attempts: 0 })]);
  expect(failed).toEqual([missing]);
});
