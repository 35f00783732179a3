import { setTimeout as sleep } from 'node:timers/promises';
import { openKnex } from '@orders/database';
import { describeError, type Logger } from '@orders/runtime';
import type { WorkerConfig } from '../config.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { type PeriodicRun, runPeriodically } from '../run-periodically.ts';
import { ACTIVITY_INTERVAL_MS, rollUpActivityOnce } from './activity-rollup.ts';
import { type Maintenance, RETENTION_INTERVAL_MS, removeExpiredKeys, retain } from './retention.ts';
import { fillSearchTerms, SEARCH_TERMS_INTERVAL_MS } from './search-terms.ts';

/** Activity and search terms hold a lock on one connection each while they work on another; all work shares the third. */
const POOL_SIZE = 3;
/** For a connection that no longer answers. Steps are limited by their portions, not by this. */
const QUERY_TIMEOUT_MS = 60_000;
/** Keys are removed in small portions while they are few. */
const KEYS_INTERVAL_MS = 60_000;

/**
 * Keeps the tables in order beside the orders, from a small pool of its own: partitions and what is past its retention, idempotency keys,
 * activity and search terms, each on a timer of its own, so that none waits for another. Harmless in several workers at once.
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
        every(RETENTION_INTERVAL_MS, (maintenance) => retain(maintenance, config.RECEIPT_RETENTION)),
        every(KEYS_INTERVAL_MS, (maintenance) => removeExpiredKeys(maintenance, config.IDEMPOTENCY_TTL)),
        every(ACTIVITY_INTERVAL_MS, rollUpActivityOnce),
        every(SEARCH_TERMS_INTERVAL_MS, fillSearchTerms),
      ];
    },
    async close() {
      // A statement under way may take longer than a drain may. What is left of it is rolled back with its connection.
      const grace = sleep(config.DRAIN_TIMEOUT / 2, null, { ref: false });
      await Promise.race([Promise.all(runs.map((run) => run.stop())), grace]);
      await Promise.race([knex.destroy(), grace]);
    },
  };
}
