import { fingerprintOf } from '@orders/database/accounts/seal.ts';
import { closeDatabase, openDatabase, poolState } from '@orders/database/connect.ts';
import { checkSchema, untilSchema } from '@orders/database/schema-state.ts';
import { createBoundedServer } from '@orders/http/create-bounded-server.ts';
import { createGracefulShutdown } from '@orders/http/graceful-shutdown.ts';
import { openQueueStats } from '@orders/queue/queue-stats.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { closeAdminServer, createAdminServer } from '@orders/runtime/lifecycle/admin-server.ts';
import { listen } from '@orders/runtime/lifecycle/listen.ts';
import type { Service } from '@orders/runtime/lifecycle/run-process.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { exposeBuildInfo, exposePools } from '@orders/runtime/observability/metrics.ts';
import { VERSION } from '@orders/runtime/version.ts';
import { createApp } from './app.ts';
import type { PortalConfig } from './config.ts';
import { createFairLimiter } from './fair-limiter.ts';
import { createMailQueue } from './mail/mail-queue.ts';
import { createSmtpSender } from './mail/send-by-smtp.ts';
import { createMetrics } from './metrics.ts';
import { createAuth } from './sign-in/create-auth.ts';
import { createKnownDevices } from './sign-in/known-device.ts';
import { createPasswordHasher } from './sign-in/password-hasher.ts';

export interface Portal extends Service {
  /** The listening ports, 0 before `start`. */
  readonly port: number;
  readonly adminPort: number;
}

/** An order of 1,000 long items with its payload and history takes up to 30 MB until it is sent. */
const MAX_CONCURRENT_READS = 4;
/** Together with `MAX_CONCURRENT_READS`, at most the default size of the connection pool. */
const MAX_CONCURRENT_SHORT = 6;
/** Max concurrent requests of one connection. Times `MAX_CONNECTIONS`, this bounds the waiting requests. */
const MAX_PIPELINED = 2;

/** Max wait for mails under way at the end; those left are dropped, as they can be asked for again. */
const MAIL_DRAIN_MS = 5000;

/** Composes the portal; nothing connects or listens before `start`. */
export function createPortal(config: PortalConfig, { logger }: { logger: Logger }): Portal {
  const metrics = createMetrics();
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.PG_POOL_SIZE,
    prepared: config.PG_PREPARED,
    queryTimeout: config.PG_QUERY_TIMEOUT,
    applicationName: 'orders portal',
  });
  exposeBuildInfo(metrics.registry, config.REVISION);
  exposePools(metrics.registry, { hot: () => poolState(database) });
  const hasher = createPasswordHasher(config.PASSWORD_HASH_COST);
  const devices = createKnownDevices({ database, secretsKey: config.SECRETS_KEY, portalUrl: config.PORTAL_URL });
  const auth = createAuth({
    pool: database.pool,
    secretsKeys: secretsKeysOf(config),
    portalUrl: config.PORTAL_URL,
    lifetimeMs: config.SESSION_LIFETIME,
    hasher,
  });
  const queues = openQueueStats(config.QUEUE_URL);
  const mails = createMailQueue(mailSender(config), {
    logger,
    count: (outcome) => metrics.mails.inc({ outcome }),
  });
  const server = createBoundedServer(config, { maxPipelined: MAX_PIPELINED });
  const shutdown = createGracefulShutdown(server);
  const runLong = createFairLimiter(MAX_CONCURRENT_READS);
  const runShort = createFairLimiter(MAX_CONCURRENT_SHORT);
  server.on(
    'request',
    createApp({ config, logger, database, auth, devices, hasher, queues, mails, runLong, runShort }, metrics),
  );
  const secretsKey = fingerprintOf(secretsKeysOf(config));
  const admin = createAdminServer(
    async () => ({ ...(await checkSchema(database, () => shutdown.draining)), secrets_key: secretsKey }),
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
      // The readiness endpoint listens last, so that it cannot answer before the portal does.
      port = await listen(server, config.HOST, config.PORT);
      adminPort = await listen(admin, config.ADMIN_HOST, config.ADMIN_PORT);
      logger.info('portal ready', { port, admin_port: adminPort, version: VERSION, revision: config.REVISION });
      void untilSchema(database, stopping.signal, (message, fields) => logger.warn(message, fields));
    },
    async close() {
      stopping.abort();
      await shutdown.announce(config.DRAIN_DELAY);
      await shutdown.drain(config.DRAIN_TIMEOUT * 0.8);
      await mails.close(Math.min(MAIL_DRAIN_MS, config.DRAIN_TIMEOUT * 0.15));
      await queues.close();
      await closeDatabase(database);
      await closeAdminServer(admin);
    },
  };
}

function mailSender({ SMTP_URL, MAIL_FROM, SMTP_STARTTLS }: PortalConfig) {
  return SMTP_URL && MAIL_FROM ? createSmtpSender(SMTP_URL, MAIL_FROM, SMTP_STARTTLS) : null;
}
