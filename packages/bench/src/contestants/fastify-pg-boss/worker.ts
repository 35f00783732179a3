import { PgBoss } from 'pg-boss';
import { endOnSignal } from '../end-on-signal.ts';
import { readSetting } from '../environment.ts';
import type { IncomingOrder } from '../incoming-order.ts';
import { makeOrderRow } from '../order-row.ts';
import { type Query, writeOrders } from '../write-orders.ts';
import { type OrderJob, QUEUE_NAME } from './order-queue.ts';

const LOCAL_CONCURRENCY = Number(process.env.TRY_CONCURRENCY ?? 2);

const boss = new PgBoss({
  connectionString: readSetting('DATABASE_URL'),
  // Each handler under way holds a connection; the rest is for fetches and maintenance.
  max: 2 * LOCAL_CONCURRENCY + 2,
  migrate: false,
  schedule: false,
  useListenNotify: process.env.TRY_NOTIFY === '1',
});
boss.on('error', (error) => console.error(error));
boss.on('warning', (error) => console.error(error));
await boss.start();

await boss.work<OrderJob, void, any>(
  QUEUE_NAME,
  {
    localConcurrency: LOCAL_CONCURRENCY,
    batchSize: Number(process.env.TRY_BATCH ?? 100),
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
    // The orders are written in the transaction that completes their jobs.
    transactional: true,
  },
  async (jobs: any, transaction: any) => {
    const query: Query = (text, values) => transaction.executeSql(text, values);
    const { rows } = await transaction.executeSql('select id, payload from receipts where id = any($1::uuid[])', [
      jobs.map((job: any) => job.data.receiptId),
    ]);
    const receipts = rows as { id: string; payload: IncomingOrder }[];
    await writeOrders(query, receipts.map(({ id, payload }) => makeOrderRow(id, payload)));
  },
);

endOnSignal(() => boss.stop({ graceful: true, timeout: 30_000 }));
