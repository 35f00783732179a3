import { closeDatabase, openDatabase, poolState } from '@orders/database/connect.ts';
import { createFailureLog } from '@orders/database/failure-log.ts';
import { checkSchema, untilSchema } from '@orders/database/schema-state.ts';
import { openProducer } from '@orders/queue/open-producer.ts';
import { untilQueue } from '@orders/queue/queue-state.ts';
import { type Consumer, startConsumer } from '@orders/queue/start-consumer.ts';
import { LANES, type WakeUp } from '@orders/queue/wake-up.ts';
import { type PeriodicRun, runPeriodically } from '@orders/runtime/concurrency/run-periodically.ts';
import { closeAdminServer, createAdminServer } from '@orders/runtime/lifecycle/admin-server.ts';
import { listen } from '@orders/runtime/lifecycle/listen.ts';
import type { Service } from '@orders/runtime/lifecycle/run-process.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { exposeBuildInfo, exposePools } from '@orders/runtime/observability/metrics.ts';
import { createOutageLog } from '@orders/runtime/observability/outage-log.ts';
import { createTracing } from '@orders/runtime/observability/tracing.ts';
import { VERSION } from '@orders/runtime/version.ts';
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
import { sweep } from './sweep.ts';
import type { BatchTrace } from './trace-batch.ts';
import { logFields } from './trace-batch.ts';
import { createWriteBatch } from './write-batch.ts';

export interface WorkerService extends Service {
  readonly adminPort: number;
}

/** Creates the worker; nothing connects before `start`. */
export function createWorker(config: WorkerConfig, { logger }: { logger: Logger }): WorkerService {
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
  exposeBuildInfo(metrics.registry, config.REVISION);
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

  const sweepDeps = { database, producer, processWakeUps, queueOutage, leaseMs, metrics, logger };

  async function sweepOnce(stopping: AbortSignal): Promise<void> {
    await sweep(sweepDeps, stopping);
    sweepFailures.succeeded();
  }

  const publishDueEvents = createPublisher(database, metrics);

  async function publishOnce(stopping: AbortSignal): Promise<void> {
    await publishDueEvents(stopping);
    publishFailures.succeeded();
  }

  async function chainOnce(stopping: AbortSignal): Promise<void> {
    await chainAudit(database, stopping);
    chainFailures.succeeded();
  }

  const stopping = new AbortController();
  const admin = createAdminServer(
    () => checkSchema(database, () => stopping.signal.aborted),
    metrics.registry,
    logger,
    config.ADMIN_TOKEN,
  );
  let consumers: Consumer[] = [];
  const maintenance = createMaintenance(config, { metrics, logger });
  let sweeper: PeriodicRun | undefined;
  let publisher: PeriodicRun | undefined;
  let chaining: PeriodicRun | undefined;
  let heartbeat: PeriodicRun | undefined;
  let processing: Promise<void> | undefined;
  let adminPort = 0;

  function startProcessing(): void {
    // Each lane has its own batches and concurrency limit, so the bulk lane never uses the capacity of the prompt lane.
    consumers = LANES.map((lane) =>
      startConsumer(coalesceWakeUps(processAndReport), {
        url: queueUrl,
        lane,
        concurrency: config.WORKER_CONCURRENCY,
        lockMs: Math.max(leaseMs, 5000),
        graceMs: config.DRAIN_TIMEOUT * 0.8,
        onError: (error) => logger.debug('queue error', { error: describeError(error) }),
      }),
    );
    sweeper = runPeriodically(sweepOnce, config.SWEEP_INTERVAL, sweepFailures.failed);
    publisher = runPeriodically(publishOnce, PUBLISH_INTERVAL_MS, publishFailures.failed);
    chaining = runPeriodically(chainOnce, CHAIN_INTERVAL_MS, chainFailures.failed);
    heartbeat = startHeartbeat(database, () => consumers.every((lane) => lane.isConnected()));
    maintenance.start();
    logger.info('worker ready');
  }

  return {
    get adminPort() {
      return adminPort;
    },
    async start() {
      await tracing?.start();
      adminPort = await listen(admin, config.ADMIN_HOST, config.ADMIN_PORT);
      logger.info('worker starting', { admin_port: adminPort, version: VERSION, revision: config.REVISION });
      const waits = Promise.withResolvers<void>();
      const warn = (message: string, fields: object) => {
        logger.warn(message, fields);
        waits.resolve();
      };
      const untilReady = async () => {
        // With another schema, statements would fail and receipts would use up their attempts.
        const isReady = await untilSchema(database, stopping.signal, warn);
        if (isReady && (await untilQueue(producer, stopping.signal, warn))) startProcessing();
      };
      processing = untilReady();
      await Promise.race([processing, waits.promise]);
    },
    async close() {
      stopping.abort();
      await processing;
      await Promise.all([
        ...consumers.map((lane) => lane.close()),
        sweeper?.stop(),
        publisher?.stop(),
        chaining?.stop(),
        maintenance.close(),
      ]);
      await heartbeat?.stop();
      await leaseReleaser.close();
      await producer.close();
      await Promise.all([tracing?.close(config.DRAIN_TIMEOUT * 0.1), closeDatabase(database)]);
      await closeAdminServer(admin);
    },
  };
}
