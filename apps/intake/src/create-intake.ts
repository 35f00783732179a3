import type { IncomingMessage } from 'node:http';
import { fingerprintOf } from '@orders/database/accounts/seal.ts';
import { closeDatabase, openDatabase, poolState } from '@orders/database/connect.ts';
import { untilSchema } from '@orders/database/schema-state.ts';
import { createBoundedServer } from '@orders/http/create-bounded-server.ts';
import { openProducer } from '@orders/queue/open-producer.ts';
import { isRedisUrl, openFailFastRedis } from '@orders/queue/open-redis.ts';
import { withTimeout } from '@orders/runtime/concurrency/timers.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { createService, type Service } from '@orders/runtime/lifecycle/create-service.ts';
import { createOutageLog, type Logger } from '@orders/runtime/observability/logger.ts';
import { exposePools } from '@orders/runtime/observability/metrics.ts';
import { createTracing } from '@orders/runtime/observability/tracing.ts';
import { createAdmission } from './admission/admission.ts';
import { shedLoad } from './admission/shed-load.ts';
import { createApp } from './app.ts';
import type { IntakeConfig } from './config.ts';
import { exposeExpiringKeys, exposeUnreadableSecrets } from './observability/expose-credentials.ts';
import { exposeLoad } from './observability/expose-load.ts';
import { createMetrics } from './observability/metrics.ts';
import { checkReadiness } from './observability/readiness.ts';
import { createSourceActivity } from './observability/source-activity.ts';
import { createParser } from './parsing/parser.ts';
import { createAuthenticator } from './pipeline/authenticate.ts';
import { checkRequestHead } from './pipeline/check-request-head.ts';
import { createSourceIdentifier } from './pipeline/identify-source.ts';
import { createOtherInstallations } from './pipeline/other-installations.ts';
import { openReadReplica, type ReadReplica } from './receipts/read-replica.ts';
import { createReceiptReader } from './receipts/receipt-reader.ts';
import { createRejectionLog } from './rejections/rejection-log.ts';
import { createEventWaiters } from './routes/get-events.ts';
import { createWaiters } from './routes/waiters.ts';

/** A body that takes longer than this fraction of `REQUEST_TIMEOUT` (5 s of 30) may be cut off when another request needs its memory. */
const SLOW_FRACTION = 1 / 6;

/** Composes the intake process; nothing connects or listens before `start`. */
export function createIntake(config: IntakeConfig, { logger }: { logger: Logger }): Service {
  const server = createBoundedServer(config);
  // Node emits this error after `REQUEST_TIMEOUT`; emitting it earlier gives the client the same plain 408.
  const timeout = Object.assign(new Error('slow body cut off'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  const admission = createAdmission({
    maxOrders: config.MAX_IN_FLIGHT,
    maxBytes: config.MAX_BYTES_IN_FLIGHT,
    maxUploads: config.MAX_CONNECTIONS,
    slow: {
      afterMs: config.REQUEST_TIMEOUT * SLOW_FRACTION,
      cutOff: ({ socket }: IncomingMessage) => void server.emit('clientError', timeout, socket),
    },
  });
  const metrics = createMetrics(admission);
  server.on('drop', () => metrics.droppedConnections.inc());
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.PG_POOL_SIZE,
    prepared: config.PG_PREPARED,
    queryTimeout: config.PG_QUERY_TIMEOUT,
    applicationName: 'orders intake',
  });
  exposePools(metrics.registry, { hot: () => poolState(database) });
  const queueOutage = createOutageLog(logger, 'queue', 'workers take overdue receipts from Postgres');
  const producer = openProducer({
    url: config.QUEUE_URL,
    onDelivered: () => queueOutage.recovered(),
    onLost: (error) => {
      metrics.lostWakeUps.inc();
      queueOutage.failed(error);
    },
  });
  const load = exposeLoad(metrics.registry, config, producer);
  // Needed even without RATE_LIMIT: an account may have its own limit.
  const redis = isRedisUrl(config.QUEUE_URL)
    ? openFailFastRedis(config.QUEUE_URL, { timeoutMs: config.RATE_LIMIT_TIMEOUT })
    : null;
  const replica = openReplica(config, logger);
  const reader = createReceiptReader({ primary: database, replica, lookups: metrics.lookups });
  const receiptWaiters = createWaiters(async (ids) =>
    (await reader.findFinal(ids)).map((final) => [final.receipt_id, final] as const),
  );
  const eventWaiters = createEventWaiters(database);
  const { unrecordedRejections: unrecorded } = metrics;
  const parser = createParser();
  const installations = createOtherInstallations(database, config.INSTALLATIONS);
  const authenticator = createAuthenticator(database, installations);
  const sources = createSourceIdentifier(database, installations, config.BASE_PATH);
  const activity = createSourceActivity(database, metrics.deliveries, logger);
  const keys = secretsKeysOf(config);
  const rejections = createRejectionLog({ database, parser, secretsKeys: keys, unrecorded });
  const countUnreadable = exposeUnreadableSecrets(metrics.registry, database, keys, logger);
  exposeExpiringKeys(metrics.registry, database);
  const tracing = createTracing(config, 'orders-intake', logger);
  const shared = { config, logger, metrics, database, admission, authenticator, sources, activity, parser };
  const app = createApp({ ...shared, reader, producer, redis, receiptWaiters, eventWaiters, rejections, tracing });
  const shedding = shedLoad(app, {
    admission,
    // The path first: a request to a source is of its account, also if it shows the key of another.
    accountOf: (request) => sources.cachedAccount(request) ?? authenticator.cachedAccount(request),
    requests: metrics.requests,
    seconds: metrics.requestSeconds,
    logger,
    basePath: config.BASE_PATH,
  });

  return createService({
    name: 'intake',
    config,
    logger,
    registry: metrics.registry,
    tracing,
    http: {
      server,
      handle: checkRequestHead(shedding),
      config,
      release() {
        receiptWaiters.release();
        eventWaiters.release();
      },
    },
    readiness: (isDraining) =>
      checkReadiness({
        database,
        producer,
        isDraining,
        secretsKey: fingerprintOf(keys),
        countUnreadableSecrets: countUnreadable,
      }),
    begin(stopping, warn) {
      if (config.NODE_ENV === 'production' && !isRedisUrl(config.QUEUE_URL))
        logger.warn('the queue runs on Postgres; use Redis in production');
      // Orders wait for Postgres in their senders, so intake serves meanwhile.
      void untilSchema(database, stopping, warn);
      return undefined;
    },
    async end() {
      await withTimeout(Promise.all([rejections.close(), activity.close()]), config.DRAIN_TIMEOUT * 0.05);
      await producer.close();
      redis?.disconnect();
      await Promise.all([load.close(), replica?.close(), parser.close(), closeDatabase(database)]);
    },
  });
}

function openReplica(config: IntakeConfig, logger: Logger): ReadReplica | null {
  if (config.DATABASE_READ_URL === undefined) return null;
  const outage = createOutageLog(logger, 'read replica', 'status look-ups go to the primary');
  return openReadReplica(
    { url: config.DATABASE_READ_URL, poolSize: config.PG_POOL_SIZE, prepared: config.PG_PREPARED },
    outage,
  );
}
