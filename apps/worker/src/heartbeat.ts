import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Database } from '@orders/database/connect.ts';
import { recordHeartbeat, removeHeartbeat } from '@orders/database/workers.ts';
import { type PeriodicRun, runPeriodically } from '@orders/runtime/concurrency/timers.ts';

const INTERVAL_MS = 3000;

/** Reports every few seconds that this worker runs; a frozen process reports nothing. Stopping it takes the worker off the list. */
export function startHeartbeat(database: Database, hasQueue: () => boolean): PeriodicRun {
  const worker = { worker_id: randomUUID(), host: hostname(), pid: process.pid };
  // While Postgres is unavailable nobody reads the list, and the sweep logs the outage.
  const ignore = () => {};
  const beating = runPeriodically(
    () => recordHeartbeat(database, { ...worker, has_queue: hasQueue() }),
    INTERVAL_MS,
    ignore,
  );
  return {
    async stop() {
      await beating.stop();
      await removeHeartbeat(database, worker.worker_id).catch(ignore);
    },
  };
}
