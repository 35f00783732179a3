import { Logger, run } from 'graphile-worker';
import { endOnSignal } from '../end-on-signal.ts';
import { readSetting } from '../environment.ts';
import { makeOrderRow } from '../order-row.ts';
import { writeOrders } from '../write-orders.ts';
import { type OrderTask, TASK_NAME } from './order-task.ts';

const CONCURRENT_JOBS = 10;
const REFETCH_MS = 100;

const runner = await run({
  noHandleSignals: true,
  preset: {
    worker: {
      connectionString: readSetting('DATABASE_URL'),
      concurrentJobs: CONCURRENT_JOBS,
      maxPoolSize: CONCURRENT_JOBS + 2,
      localQueue: {
        // The values of graphile/worker's performance page.
        size: 500,
        // Without this delay every notification causes a fetch, and the commits of intake wait for its commits.
        refetchDelay: { durationMs: REFETCH_MS, threshold: 100 },
      },
      // A job announced during the delay waits for the next poll, two seconds by default.
      pollInterval: REFETCH_MS,
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      // The default logger writes a line for each job.
      logger: new Logger(() => (level, message) => {
        if (level === 'error' || level === 'warning') console.error(message);
      }),
    },
  },
  taskList: {
    [TASK_NAME]: (payload, { withPgClient }) => {
      const { receipt_id, order } = payload as OrderTask;
      const row = makeOrderRow(receipt_id, order);
      return withPgClient((client) => writeOrders((statement) => client.query(statement), [row]));
    },
  },
});

endOnSignal(() => runner.stop());
