import { Logger, run } from 'graphile-worker';
import { endOnSignal } from '../end-on-signal.ts';
import { readSetting } from '../environment.ts';
import { makeOrderRow } from '../order-row.ts';
import { writeOrders } from '../write-orders.ts';
import { type OrderTask, TASK_NAME } from './order-task.ts';

const CONCURRENT_JOBS = Number(process.env.TRY_CONCURRENCY ?? 10);

const runner = await run({
  noHandleSignals: true,
  preset: {
    worker: {
      logger: new Logger(() => (level, message) => {
        if (level === 'error' || level === 'warning') console.error(message);
      }),
      connectionString: readSetting('DATABASE_URL'),
      concurrentJobs: CONCURRENT_JOBS,
      ...(process.env.TRY_POLL && { pollInterval: Number(process.env.TRY_POLL) }),
      maxPoolSize: CONCURRENT_JOBS + 2,
      ...(process.env.TRY_LOCAL !== '0' && { localQueue: { size: Number(process.env.TRY_LOCAL ?? 500), ...(process.env.TRY_REFETCH && {refetchDelay: { durationMs: Number(process.env.TRY_REFETCH), threshold: Number(process.env.TRY_THRESHOLD ?? 0), maxAbortThreshold: Number(process.env.TRY_ABORT ?? 2500)}}) } }),
      completeJobBatchDelay: Number(process.env.TRY_DELAY ?? 0),
      failJobBatchDelay: Number(process.env.TRY_DELAY ?? 0),
    },
  },
  taskList: {
    [TASK_NAME]: async (payload, helpers) => {
      let { receipt_id, order } = payload as OrderTask;
      order ??= (await helpers.withPgClient((client) => client.query({ name: 'read', text: 'select payload from receipts where id = $1', values: [receipt_id] }))).rows[0].payload;
      await helpers.withPgClient((client) => writeOrders((text, values) => client.query({ ...(!process.env.TRY_UNNAMED && { name: text.slice(0, 60) }), text, values }), [makeOrderRow(receipt_id, order)]));
    },
  },
});

endOnSignal(() => runner.stop());
