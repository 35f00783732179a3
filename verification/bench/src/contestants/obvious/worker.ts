import { Worker } from 'bullmq';
import { endOnSignal, logError } from '../environment.ts';
import { makeOrderRow } from '../plain-orders.ts';
import { type OrderJob, openKnex, openRedis, QUEUE_NAME } from './open-knex.ts';

const CONCURRENCY = 20;

const knex = openKnex(CONCURRENCY);
const redis = openRedis();
const worker = new Worker<OrderJob>(QUEUE_NAME, (job) => writeOrder(job.data), {
  connection: redis,
  concurrency: CONCURRENCY,
});
worker.on('error', logError);
worker.on('failed', (_job, error) => logError(error));

endOnSignal(async () => {
  await worker.close();
  await redis.quit();
  await knex.destroy();
});

async function writeOrder({ receiptId, order }: OrderJob): Promise<void> {
  await knex('receipts').where({ id: receiptId }).update({ state: 'normalized', updated_at: knex.fn.now() });
  const row = makeOrderRow(receiptId, order);
  await knex.transaction(async (transaction) => {
    const [written] = await transaction('orders')
      .insert(row)
      .onConflict(['account_id', 'source_order_id'])
      .ignore()
      .returning(['id', 'receipt_id']);
    const { account_id, source_order_id } = row;
    const kept =
      written ?? (await transaction('orders').where({ account_id, source_order_id }).first('id', 'receipt_id'));
    // A job that runs again finds the order that it wrote before.
    const state = kept.receipt_id === receiptId ? 'written' : 'duplicate';
    await transaction('receipts')
      .where({ id: receiptId })
      .update({ state, order_id: kept.id, updated_at: transaction.fn.now() });
  });
}
