import { closeDatabase, openDatabase, poolState } from '@orders/database/connect.ts';
import { createFailureLog, type FailureLog } from '@orders/database/failure-log.ts';
import { rememberLowerBound } from '@orders/database/lower-bound.ts';
import { checkSchema, untilSchema } from '@orders/database/schema-state.ts';
import { openProducer } from '@orders/queue/open-producer.ts';
import { untilQueue } from '@orders/queue/queue-state.ts';
import { type Consumer, startConsumer } from '@orders/queue/start-consumer.ts';
import { LANES, type WakeUp } from '@orders/queue/wake-up.ts';
import { type PeriodicRun, runPeriodically } from '@orders/runtime/concurrency/timers.ts';
import { createService, DRAIN_SHARE, type Service } from '@orders/runtime/lifecycle/create-service.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import { createOutageLog, type Logger } from '@orders/runtime/observability/logger.ts';
import { exposePools } from '@orders/runtime/observability/metrics.ts';
import { createTracing } from '@orders/runtime/observability/tracing.ts';
import { CHAIN_INTERVAL_MS, chainAudit } from './chain-audit.ts';
import { coalesceWakeUps } from './coalesce-wake-ups.ts';
import type { WorkerConfig } from './config.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createLeaseReleaser } from './lease-releaser.ts';
import { createMaintenance } from './maintenance/create-maintenance.ts';
import { createMetrics } from './metrics.ts';
import { processBatch } from './process-batch.ts';
import { createPublisher, PUBLISH_INTERVAL_MS } from './publish-events.ts';
import { createRecordFailure } from './record-failure.ts';
import { SWEEPS_PER_FULL, sweep } from './sweep.ts';
import { type BatchTrace, logFields } from './trace-batch.ts';
import { createWriteBatch } from './write-batch.ts';

/** Creates the worker; nothing connects before `start`. */
export function createWorker(config: WorkerConfig, { logger }: { logger: Logger }): Service {
  const { LEASE: leaseMs, SWEEP_AFTER: sweepAfterMs, QUEUE_URL: queueUrl } = config;
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.PG_POOL_SIZE,
    prepared: config.PG_PREPARED,
    queryTimeout: config.PG_QUERY_TIMEOUT,
    applicationName: 'orders worker',
    bulk: true,
  });
  const metrics = createMetrics();
  exposePools(metrics.registry, { hot: () => poolState(database) });
  const producer = openProducer({ url: queueUrl, onLost: () => metrics.lostWakeUps.inc() });
  const leaseReleaser = createLeaseReleaser(database);
  const retries = { attempts: config.RETRY_ATTEMPTS, base: config.RETRY_BASE, cap: config.RETRY_CAP };
  const recordFailure = createRecordFailure({ database, producer, retries, metrics, logger });
  const writeBatch = createWriteBatch({ database, producer, leaseReleaser, recordFailure, metrics, logger });
  const onCrashLimit = (trace: BatchTrace | null, receiptId: string) => {
    metrics.outcomes.inc({ outcome: 'dead' });
    logger.error('receipt dead: workers crashed while processing it', {
      ...logFields(receiptId, trace),
      code: 'worker_crashed',
    });
    trace?.recordOutcome(receiptId, 'dead', { 'orders.error_code': 'worker_crashed' });
  };
  const tracing = createTracing(config, 'orders-worker', logger);
  const deps = { database, writeBatch, recordFailure, leaseReleaser, onCrashLimit, tracing, leaseMs, sweepAfterMs };
  const processWakeUps = processBatch(deps);
  const batchFailures = createFailureLog(database, logger, 'batch', 'wake-ups will be retried');
  const sweepFailures = createFailureLog(database, logger, 'sweep', 'overdue receipts wait for the next sweep');
  const publishFailures = createFailureLog(database, logger, 'publishing events', 'events wait for the next round');
  const chainFailures = createFailureLog(database, logger, 'chaining audit events', 'they wait for the next round');
  const queueOutage = createOutageLog(logger, 'queue', 'workers take overdue receipts from Postgres');
  const bound = rememberLowerBound(SWEEPS_PER_FULL);
  const sweepDeps = { database, bound, producer, processWakeUps, queueOutage, leaseMs, metrics, logger };
  const publish = createPublisher(database, metrics);
  const maintenance = createMaintenance(config, { metrics, logger });
  let consumers: Consumer[] = [];
  let runs: PeriodicRun[] = [];
  let heartbeat: PeriodicRun | undefined;

  async function processAndReport(wakeUps: WakeUp[]): Promise<void> {
    try {
      await processWakeUps(wakeUps);
      batchFailures.succeeded();
    } catch (error) {
      metrics.outages.inc();
      await batchFailures.failed(error);
      throw error;
    }
  }

  function every(ms: number, work: (stopping: AbortSignal) => Promise<void>, failures: FailureLog): PeriodicRun {
    return runPeriodically((stopping) => work(stopping).then(failures.succeeded), ms, failures.failed);
  }

  function startProcessing(): void {
    // Each lane has its own batches and concurrency limit, so the bulk lane never uses the capacity of the prompt lane.
    consumers = LANES.map((lane) =>
      startConsumer(coalesceWakeUps(processAndReport), {
        url: queueUrl,
        lane,
        concurrency: config.WORKER_CONCURRENCY,
        lockMs: Math.max(leaseMs, 5000),
        graceMs: config.DRAIN_TIMEOUT * DRAIN_SHARE,
        onError: (error) => logger.debug('queue error', { error: describeError(error) }),
      }),
    );
    runs = [
      every(config.SWEEP_INTERVAL, (stopping) => sweep(sweepDeps, stopping), sweepFailures),
      every(PUBLISH_INTERVAL_MS, publish, publishFailures),
      every(CHAIN_INTERVAL_MS, (stopping) => chainAudit(database, stopping), chainFailures),
    ];
    heartbeat = startHeartbeat(database, () => consumers.every((lane) => lane.isConnected()));
    maintenance.start();
    logger.info('worker ready');
  }

  return createService({
    name: 'worker',
    config,
    logger,
    registry: metrics.registry,
    tracing,
    readiness: (isDraining) => checkSchema(database, isDraining),
    async begin(stopping, warn) {
      // With another schema, statements would fail and receipts would use up their attempts.
      const isReady = await untilSchema(database, stopping, warn);
      if (isReady && (await untilQueue(producer, stopping, warn))) startProcessing();
    },
    async end() {
      await Promise.all([
        ...consumers.map((lane) => lane.close()),
        ...runs.map((run) => run.stop()),
        maintenance.close(),
      ]);
      await heartbeat?.stop();
      await leaseReleaser.close();
      await producer.close();
      await closeDatabase(database);
    },
  });
}
