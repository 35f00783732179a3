import type { Database } from '@orders/database/connect.ts';
import type { QueueStats } from '@orders/queue/queue-stats.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { PortalConfig } from './config.ts';
import type { FairLimiter } from './fair-limiter.ts';
import type { MailQueue } from './mail/mail-queue.ts';
import type { Auth } from './sign-in/create-auth.ts';
import type { KnownDevices } from './sign-in/known-device.ts';
import type { PasswordHasher } from './sign-in/password-hasher.ts';

/** Dependencies of the routes. */
export interface PortalDeps {
  config: PortalConfig;
  logger: Logger;
  database: Database;
  auth: Auth;
  devices: KnownDevices;
  hasher: PasswordHasher;
  queues: QueueStats;
  mails: MailQueue;
  /**
   * Runs work that may read megabytes, fairly among accounts; the few that run concurrently bound the memory.
   */
  runLong: FairLimiter;
  /** The same for work that reads and writes a few rows, in a separate queue so that it does not wait for large reads. */
  runShort: FairLimiter;
}
