import {
  checkSchema,
  closeDatabase,
  fingerprintOf,
  knexPoolState,
  openDatabase,
  openKnex,
  poolState,
  untilSchema,
} from '@orders/database';
import { createBoundedServer, createGracefulShutdown, limitPipelining } from '@orders/http';
import { openQueueStats } from '@orders/queue';
import {
  closeAdminServer,
  createAdminServer,
  exposeBuildInfo,
  exposePools,
  type Logger,
  listen,
  type Service,
  secretsKeysOf,
  VERSION,
} from '@orders/runtime';
import { createApp } from './app.ts';
import type { PortalConfig } from './config.ts';
import { createFairLimiter } from './fair-limiter.ts';
import { createMetrics } from './metrics.ts';
import { createAuth } from './sign-in/create-auth.ts';

export interface Portal extends Service {
  /** The ports it listens on, once started. */
  readonly port: number;
  readonly adminPort: number;
}

/** One order of 1,000 long items with its payload and past takes up to 30 MB for the moment until it is sent. */
const MAX_CONCURRENT_READS = 4;
/** With the former no more than a pool of connections has by default. */
const MAX_CONCURRENT_SHORT = 6;
/** Requests under way on one connection: what waits is bounded by this and by `MAX_CONNECTIONS`. */
const MAX_PIPELINED = 2;

/** Puts the portal together; nothing connects or listens before `start`. */
export function createPortal(config: PortalConfig, { logger }: { logger: Logger }): Portal {
  const metrics = createMetrics();
  const connect = {
    url: config.DATABASE_URL,
    poolSize: config.PG_POOL_SIZE,
    prepared: config.PG_PREPARED,
    queryTimeout: config.PG_QUERY_TIMEOUT,
    applicationName: 'orders portal',
  };
  const database = openDatabase(connect);
  const knex = openKnex(connect);
  exposeBuildInfo(metrics.registry, config.REVISION);
  exposePools(metrics.registry, { hot: () => poolState(database), knex: () => knexPoolState(knex) });
  const auth = createAuth({
    pool: database.pool,
    secretsKey: config.SECRETS_KEY,
    portalUrl: config.PORTAL_URL,
    lifetimeMs: config.SESSION_LIFETIME,
  });
  const queues = openQueueStats(config.QUEUE_URL);
  const server = createBoundedServer(config);
  const open = createGracefulShutdown(server);
  const runFairly = createFairLimiter(MAX_CONCURRENT_READS);
  const runShortFairly = createFairLimiter(MAX_CONCURRENT_SHORT);
  server.on(
    'request',
    limitPipelining(
      MAX_PIPELINED,
      createApp({ config, logger, knex, database, auth, queues, runFairly, runShortFairly }, metrics),
    ),
  );
  const secretsKey = fingerprintOf(secretsKeysOf(config));
  const admin = createAdminServer(
    async () => ({ ...(await checkSchema(database, () => open.draining)), secrets_key: secretsKey }),
    metrics.registry,
    logger,
    config.ADMIN_TOKEN,
  );
  const stopping = new AbortController();
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
      logger.info('portal listens', { port, admin_port: adminPort, version: VERSION, revision: config.REVISION });
      void untilSchema(database, stopping.signal, (message, fields) => logger.warn(message, fields));
    },
    async close() {
      stopping.abort();
      await open.announce(config.DRAIN_DELAY);
      await open.drain(config.DRAIN_TIMEOUT * 0.8);
      await queues.close();
      await knex.destroy();
      await closeDatabase(database);
      await closeAdminServer(admin);
    },
  };
}
