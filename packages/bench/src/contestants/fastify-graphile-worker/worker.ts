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
        // As on the performance page.
        size: 500,
        // Without it every notification is answered with a fetch, whose commits those of intake wait for.
        refetchDelay: { durationMs: REFETCH_MS, threshold: 100 },
      },
      // A job that is announced during that delay waits for the next poll, by default for two seconds.
      pollInterval: REFETCH_MS,
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      // The default writes a line for each job.
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
