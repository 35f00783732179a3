import { fingerprintOf } from '@orders/database/accounts/seal.ts';
import { closeDatabase, openDatabase, poolState } from '@orders/database/connect.ts';
import { checkSchema, untilSchema } from '@orders/database/schema-state.ts';
import { createBoundedServer } from '@orders/http/create-bounded-server.ts';
import { openQueueStats } from '@orders/queue/queue-stats.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { createService, type Service } from '@orders/runtime/lifecycle/create-service.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { exposePools } from '@orders/runtime/observability/metrics.ts';
import { createApp } from './app.ts';
import type { PortalConfig } from './config.ts';
import { createFairLimiter } from './fair-limiter.ts';
import { createMailQueue } from './mail/mail-queue.ts';
import { createSmtpSender } from './mail/send-by-smtp.ts';
import { createMetrics } from './metrics.ts';
import { createAuth } from './sign-in/create-auth.ts';
import { createKnownDevices } from './sign-in/known-device.ts';
import { createPasswordHasher } from './sign-in/password-hasher.ts';

/** An order of 1,000 long items with its payload and history takes up to 30 MB until it is sent. */
const MAX_CONCURRENT_READS = 4;
/** Together with `MAX_CONCURRENT_READS`, at most the default size of the connection pool. */
const MAX_CONCURRENT_SHORT = 6;
/** Max concurrent requests of one connection. Times `MAX_CONNECTIONS`, this bounds the waiting requests. */
const MAX_PIPELINED = 2;

/** Max wait for mails under way at the end; those left are dropped, as they can be asked for again. */
const MAIL_DRAIN_MS = 5000;

/** Composes the portal; nothing connects or listens before `start`. */
export function createPortal(config: PortalConfig, { logger }: { logger: Logger }): Service {
  const metrics = createMetrics();
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.PG_POOL_SIZE,
    prepared: config.PG_PREPARED,
    queryTimeout: config.PG_QUERY_TIMEOUT,
    applicationName: 'orders portal',
  });
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
  const runLong = createFairLimiter(MAX_CONCURRENT_READS);
  const runShort = createFairLimiter(MAX_CONCURRENT_SHORT);
  const deps = { config, logger, database, auth, devices, hasher, queues, mails, runLong, runShort };
  const secretsKey = fingerprintOf(secretsKeysOf(config));

  return createService({
    name: 'portal',
    config,
    logger,
    registry: metrics.registry,
    http: { server, handle: createApp(deps, metrics), config },
    readiness: async (isDraining) => ({ ...(await checkSchema(database, isDraining)), secrets_key: secretsKey }),
    begin(stopping, warn) {
      void untilSchema(database, stopping, warn);
      return undefined;
    },
    async end() {
      await mails.close(Math.min(MAIL_DRAIN_MS, config.DRAIN_TIMEOUT * 0.15));
      await queues.close();
      await closeDatabase(database);
    },
  });
}

function mailSender({ SMTP_URL, MAIL_FROM, SMTP_STARTTLS }: PortalConfig) {
  return SMTP_URL && MAIL_FROM ? createSmtpSender(SMTP_URL, MAIL_FROM, SMTP_STARTTLS) : null;
}
