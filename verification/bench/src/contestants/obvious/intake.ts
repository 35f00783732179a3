import { Queue } from 'bullmq';
import { logError } from '../environment.ts';
import { serveExpress } from '../express-intake.ts';
import { ACCOUNT_ID } from '../plain-orders.ts';
import { JOB_OPTIONS, type OrderJob, openKnex, openRedis, QUEUE_NAME } from './open-knex.ts';

// 5 and 20 connections are no faster.
const knex = openKnex(10);
const redis = openRedis();
const queue = new Queue<OrderJob>(QUEUE_NAME, { connection: redis });
queue.on('error', logError);
await Promise.all([knex.raw('select 1'), queue.waitUntilReady()]);

await serveExpress(
  async (receiptId, order) => {
    await knex('receipts').insert({
      id: receiptId,
      account_id: ACCOUNT_ID,
      source_order_id: order.source_order_id,
      state: 'received',
      payload: order,
    });
    await queue.add('order', { receiptId, order }, JOB_OPTIONS);
  },
  async () => {
    await queue.close();
    await redis.quit();
    await knex.destroy();
  },
);
