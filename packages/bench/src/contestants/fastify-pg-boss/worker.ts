import { type Job, PgBoss } from 'pg-boss';
import { endOnSignal } from '../end-on-signal.ts';
import { readSetting } from '../environment.ts';
import type { IncomingOrder } from '../incoming-order.ts';
import { logError } from '../log-error.ts';
import { makeOrderRow } from '../order-row.ts';
import { writeOrders } from '../write-orders.ts';
import { type OrderJob, QUEUE_NAME } from './order-queue.ts';

const boss = new PgBoss({
  connectionString: readSetting('DATABASE_URL'),
  // The handler holds one connection while it runs. The others are for fetches and maintenance.
  max: 4,
  migrate: false,
  schedule: false,
});
boss.on('error', logError);
boss.on('warning', ({ message }) => console.error(message));
await boss.start();

await boss.work(
  QUEUE_NAME,
  {
    // With batches one worker keeps up with intake. 2 and 4 workers, or batches of 50, 250 or 500, are no faster.
    localConcurrency: 1,
    batchSize: 100,
    burstWhenBatchFull: true,
    // The shortest possible interval.
    pollingIntervalSeconds: 0.5,
    // The writes of the handler commit together with the completion of the jobs.
    transactional: true,
  },
  async (jobs: Job<OrderJob>[], transaction) => {
    const ids = jobs.map((job) => job.data.receiptId);
    const { rows } = await transaction.executeSql('select id, payload from receipts where id = any($1::uuid[])', [ids]);
    const receipts: { id: string; payload: IncomingOrder }[] = rows;
    await writeOrders(
      ({ text, values }) => transaction.executeSql(text, values),
      receipts.map(({ id, payload }) => makeOrderRow(id, payload)),
    );
  },
);

endOnSignal(() => boss.stop());
