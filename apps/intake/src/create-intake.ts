import { closeDatabase, openDatabase } from '@orders/database';
import { createBoundedServer, createOpenReplies } from '@orders/http';
import { isRedisUrl, openBell, openFailFastRedis } from '@orders/queue';
import {
  closeAdminServer,
  createAdminServer,
  createOutageLog,
  type Logger,
  listen,
  type Service,
} from '@orders/runtime';
import { createApp } from './app.ts';
import type { IntakeConfig } from './config.ts';
import { createMetrics } from './metrics.ts';
import { createPlaces } from './places.ts';
import { checkReadiness } from './readiness.ts';
import { createReceiptWaiters } from './receipt-waiters.ts';
import { createRejectionLog } from './rejections/rejection-log.ts';
import { shedLoad } from './shed-load.ts';

export interface Intake extends Service {
  /** The ports it listens on, once started. */
  readonly port: number;
  readonly adminPort: number;
}

const RATE_LIMITER_PATIENCE_MS = 200;

/** Puts the intake app together; nothing connects or listens before `start`. */
export function createIntake(config: IntakeConfig, { logger }: { logger: Logger }): Intake {
  const places = createPlaces(config.MAX_IN_FLIGHT);
  const metrics = createMetrics(places);
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.PG_POOL_SIZE,
    prepared: config.PG_PREPARED,
    queryTimeout: config.PG_QUERY_TIMEOUT,
    applicationName: 'orders intake',
  });
  const queue = createOutageLog(logger, 'the queue', 'the sweeper will ring');
  const bell = openBell({
    url: config.QUEUE_URL,
    onDelivered: () => queue.over(),
    onLost: (error) => {
      metrics.lostRings.inc();
      queue.met(error);
    },
  });
  // Also without RATE_LIMIT, as any account may be given a limit of its own.
  const redis = isRedisUrl(config.QUEUE_URL) ? openFailFastRedis(config.QUEUE_URL, RATE_LIMITER_PATIENCE_MS) : null;
  const waiters = createReceiptWaiters(database);
  const { unrecordedRejections: unrecorded } = metrics;
  const rejections = createRejectionLog({ database, secretsKey: config.SECRETS_KEY, unrecorded });
  const server = createBoundedServer(config).on('drop', () => metrics.droppedConnections.inc());
  const open = createOpenReplies(server);
  const app = createApp({ config, logger, metrics, database, bell, redis, waiters, rejections });
  server.on('request', shedLoad(app, { places, requests: metrics.requests, logger }));
  const admin = createAdminServer(
    checkReadiness(database, bell, () => open.draining),
    metrics.registry,
  );
  let [port, adminPort] = [0, 0];

  return {
    get port() {
      return port;
    },
    get adminPort() {
      return adminPort;
    },
    async start() {
      // Ready is said only once there is somebody to be ready.
      port = await listen(server, config.HOST, config.PORT);
      adminPort = await listen(admin, config.ADMIN_HOST, config.ADMIN_PORT);
      if (config.NODE_ENV === 'production' && !isRedisUrl(config.QUEUE_URL)) {
        logger.warn('the queue runs on Postgres; production is meant to run it on Redis');
      }
      logger.info('intake listens', { port, admin_port: adminPort });
    },
    async close() {
      await open.announce(config.DRAIN_DELAY);
      waiters.release();
      await open.drain(config.DRAIN_TIMEOUT * 0.8);
      await rejections.close();
      await bell.close();
      redis?.disconnect();
      await closeDatabase(database);
      await closeAdminServer(admin);
    },
  };
}
