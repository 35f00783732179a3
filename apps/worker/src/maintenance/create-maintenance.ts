import { setTimeout as sleep } from 'node:timers/promises';
import { rollUpActivity } from './roll-up-activity.ts';
import { openKnex } from '@orders/database/connect.ts';
import { type PeriodicRun, runPeriodically } from '@orders/runtime/concurrency/run-periodically.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { WorkerConfig } from '../config.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { Maintenance } from './maintenance.ts';
import { RETENTION_INTERVAL_MS, removeExpiredKeys, retain } from './retention.ts';
import { fillSearchTermsUntilDone, SEARCH_TERMS_INTERVAL_MS } from './search-terms.ts';

/** Activity and search terms each hold a lock on one connection; all statements share the third. */
const POOL_SIZE = 3;
/** Only for a connection that hangs. Chunk sizes limit how long a step's statement takes. */
const QUERY_TIMEOUT_MS = 60_000;
/** Short, so that few keys have expired at each run. */
const KEYS_INTERVAL_MS = 60_000;
/** The rollup counts the receipts of the last minutes by outcome, for the portal's overview. */
const ACTIVITY_INTERVAL_MS = 60_000;
/** Each worker tries once per interval; the first one does the rollup and the others skip it. */
const ACTIVITY_MIN_AGE_MS = ACTIVITY_INTERVAL_MS * 0.9;

/**
 * Runs periodic maintenance on a small connection pool of its own: partitions and retention, idempotency keys, activity rollup and search
 * terms. Each has its own timer, so none waits for another. Several workers may run it at the same time.
 */
export function createMaintenance(
  config: WorkerConfig,
  { metrics, logger }: { metrics: WorkerMetrics; logger: Logger },
): { start(): void; close(): Promise<void> } {
  const knex = openKnex({
    url: config.DATABASE_URL,
    prepared: config.PG_PREPARED,
    applicationName: 'orders maintenance',
    poolSize: POOL_SIZE,
    queryTimeout: QUERY_TIMEOUT_MS,
  });
  let runs: PeriodicRun[] = [];

  function every(intervalMs: number, work: (maintenance: Maintenance) => Promise<void>): PeriodicRun {
    const maintain = (stopping: AbortSignal) =>
      work({
        knex,
        stopping,
        logger,
        metrics,
        async step(name, run) {
          if (stopping.aborted) return;
          await run().catch((error: unknown) => {
            if (stopping.aborted) return;
            metrics.maintenanceFailures.inc({ step: name });
            const fields = { step: name, error: describeError(error), retry_in_ms: intervalMs };
            logger.warn('maintenance step failed', fields);
          });
        },
      });
    return runPeriodically(maintain, intervalMs, (error) =>
      logger.error('maintenance failed', { error: describeError(error, { stack: true }) }),
    );
  }

  return {
    start() {
      runs = [
        every(RETENTION_INTERVAL_MS, (maintenance) => retain(maintenance, config)),
        every(KEYS_INTERVAL_MS, (maintenance) => removeExpiredKeys(maintenance, config.IDEMPOTENCY_TTL)),
        every(ACTIVITY_INTERVAL_MS, ({ knex, step }) =>
          step('roll_up_activity', () => rollUpActivity(knex, ACTIVITY_MIN_AGE_MS)),
        ),
        every(SEARCH_TERMS_INTERVAL_MS, fillSearchTermsUntilDone),
      ];
    },
    async close() {
      // A running statement may take longer than the drain timeout. Closing its connection rolls it back.
      const grace = sleep(config.DRAIN_TIMEOUT / 2, null, { ref: false });
      await Promise.race([Promise.all(runs.map((run) => run.stop())), grace]);
      await Promise.race([knex.destroy(), grace]);
    },
  };
}
