import { setTimeout as sleep } from 'node:timers/promises';
import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import { pruneEvents } from '@orders/database/events/event-logs.ts';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { countInDefault } from '@orders/database/partitions/list-partitions.ts';
import { pruneRejected } from '@orders/database/rejected-deliveries.ts';
import { removeChunks, run } from '@orders/database/run.ts';
import { pruneSourceActivity } from '@orders/database/sources/activity.ts';
import { removeOldRequests } from '@orders/database/users/portal-requests.ts';
import { removeOldSignIns } from '@orders/database/users/sign-in-attempts.ts';
import { type PeriodicRun, runPeriodically } from '@orders/runtime/concurrency/timers.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { WorkerConfig } from '../config.ts';
import type { MaintenanceStep, WorkerMetrics } from '../metrics.ts';
import { dropOldPartitions, removeLeftovers } from './drop-partitions.ts';
import { emptyTestAccounts, TESTS_KEPT_MS } from './empty-test-accounts.ts';
import { fillSearchTerms } from './fill-search-terms.ts';
import { pruneAttempts, removeOrphanedDeliveries } from './prune-deliveries.ts';
import { removeOldIdempotencyKeys } from './remove-idempotency-keys.ts';
import { rollUpActivity } from './roll-up-activity.ts';

/** Rows removed per transaction. */
const CHUNK_SIZE = 1000;

/**
 * Removes the cancellations that have been held for `retentionMs` milliseconds, 1,000 per transaction. An order that arrives later is written
 * like any other.
 *
 * @param signal stops it between two chunks.
 */
async function removeHeldCancellations(database: Database, retentionMs: number, signal?: AbortSignal): Promise<void> {
  const removeChunk = async () => {
    const [row] = await run<{ removed: number }>(
      database,
      "select remove_held_cancellations(now() - $1 * interval '1 ms', $2) as removed",
      [retentionMs, CHUNK_SIZE],
    );
    return row?.removed ?? 0;
  };
  await removeChunks(CHUNK_SIZE, removeChunk, signal);
}

/** Interval at which partitions are created and dropped, in milliseconds. */
const RETENTION_INTERVAL_MS = 600_000;
/** Limits of the log of rejected deliveries: age, and number per account. */
const REJECTED_KEPT_MS = 7 * 24 * 3_600_000;
const REJECTED_KEPT = 500;
/** Limits of the log of delivery attempts: age, and number per endpoint. */
const ATTEMPTS_KEPT_MS = 7 * 24 * 3_600_000;
const ATTEMPTS_KEPT = 1000;
/** Days of counts of deliveries to sources; the portal shows the last seven. */
const SOURCE_ACTIVITY_DAYS = 30;

/**
 * Creates partitions ahead, drops those past their retention, and removes old held cancellations, events, delivery attempts, tests,
 * rejected deliveries, counts of deliveries to sources, expired sign-in data and the requests of the portal's users.
 *
 * @param config retention times in milliseconds.
 */
async function retain(
  maintenance: Maintenance,
  {
    RECEIPT_RETENTION: receiptRetention,
    PARTITION_WIDTH: width,
    EVENT_RETENTION,
  }: Pick<WorkerConfig, 'RECEIPT_RETENTION' | 'PARTITION_WIDTH' | 'EVENT_RETENTION'>,
): Promise<void> {
  const { database, stopping, logger, metrics, step } = maintenance;
  await step('make_partitions', async () => {
    for (const partition of await createPartitions(database, Date.now(), { width, signal: stopping }))
      logger.info('partition created', { partition });
  });
  await step('drop_partitions', async () => {
    const { dropped, kept } = await dropOldPartitions(database, receiptRetention, stopping);
    for (const partition of dropped) logger.info('partition dropped', { partition });
    if (kept.length > 0) logger.warn('partitions kept past their retention: a receipt is not final', { kept });
    if (dropped.length > 0) await step('remove_leftovers', () => removeLeftovers(database, stopping));
  });
  await step('count_default_partitions', async () => metrics.inDefaultPartitions.set(await countInDefault(database)));
  await step('remove_held_cancellations', () => removeHeldCancellations(database, receiptRetention, stopping));
  await step('empty_test_accounts', async () => {
    const removed = await emptyTestAccounts(database, TESTS_KEPT_MS, stopping);
    if (removed.orders + removed.receipts > 0) logger.debug('test accounts emptied', removed);
  });
  await step('prune_events', () => pruneEvents(database, EVENT_RETENTION, stopping));
  await step('prune_delivery_attempts', () => pruneAttempts(database, ATTEMPTS_KEPT_MS, ATTEMPTS_KEPT, stopping));
  await step('remove_orphaned_deliveries', () => removeOrphanedDeliveries(database, stopping));
  await step('prune_rejected_deliveries', () => pruneRejected(database, REJECTED_KEPT_MS, REJECTED_KEPT));
  await step('prune_source_activity', () => pruneSourceActivity(database, SOURCE_ACTIVITY_DAYS));
  await step('remove_sign_ins', () => removeOldSignIns(database));
  await step('remove_portal_requests', () => removeOldRequests(database));
}

/** @param idempotencyTtl milliseconds. */
async function removeExpiredKeys(
  { database, stopping, logger, step }: Maintenance,
  idempotencyTtl: number,
): Promise<void> {
  await step('remove_idempotency_keys', async () => {
    const removed = await removeOldIdempotencyKeys(database, idempotencyTtl, stopping);
    if (removed > 0) logger.debug('idempotency keys removed', { removed });
  });
}

const SEARCH_TERMS_INTERVAL_MS = 10_000;
/** Pause after each chunk as a multiple of its duration, so that orders have priority; bounds in milliseconds. */
const PAUSE_FACTOR = 30;
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [200, 5000];

/** Creates missing search terms of orders that need review, until none is missing. */
async function fillSearchTermsUntilDone({ database, stopping, step }: Maintenance): Promise<void> {
  const pause = async (workedMs: number) => {
    const pauseMs = Math.min(Math.max(PAUSE_FACTOR * workedMs, MIN_PAUSE_MS), MAX_PAUSE_MS);
    await sleep(pauseMs, null, { signal: stopping }).catch(() => {});
    return !stopping.aborted;
  };
  await step('fill_search_terms', async () => {
    while (!stopping.aborted && (await fillSearchTerms(database, pause)) > 0);
  });
}

/**
 * Activity and search terms each hold a lock on one connection; all statements share the third. They are not those of the batches, as these
 * would wait for statements that take seconds.
 */
const POOL_SIZE = 3;
/** Only for a connection that hangs, and for a step that waits for the statement of another one. Chunk sizes limit how long these take. */
const TIMEOUT_MS = 60_000;
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
  const database = openDatabase({
    url: config.DATABASE_URL,
    prepared: config.PG_PREPARED,
    replans: true,
    applicationName: 'orders maintenance',
    poolSize: POOL_SIZE,
    queryTimeout: TIMEOUT_MS,
    connectTimeout: TIMEOUT_MS,
  });
  let runs: PeriodicRun[] = [];

  function every(intervalMs: number, work: (maintenance: Maintenance) => Promise<void>): PeriodicRun {
    const maintain = (stopping: AbortSignal) =>
      work({
        database,
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
        every(ACTIVITY_INTERVAL_MS, ({ database, step }) =>
          step('roll_up_activity', () => rollUpActivity(database, ACTIVITY_MIN_AGE_MS)),
        ),
        every(SEARCH_TERMS_INTERVAL_MS, fillSearchTermsUntilDone),
      ];
    },
    async close() {
      // A running statement may take longer than the drain timeout. Closing its connection rolls it back.
      const grace = sleep(config.DRAIN_TIMEOUT / 2, null, { ref: false });
      await Promise.race([Promise.all(runs.map((run) => run.stop())), grace]);
      await Promise.race([closeDatabase(database), grace]);
    },
  };
}

/** Context of a maintenance run. */
interface Maintenance {
  database: Database;
  /** Aborted when the worker drains; long steps then stop early. */
  stopping: AbortSignal;
  logger: Logger;
  metrics: WorkerMetrics;
  /** Runs one step. A failure is logged and counted under its name; the steps after it still run. */
  step(name: MaintenanceStep, run: () => Promise<unknown>): Promise<void>;
}
