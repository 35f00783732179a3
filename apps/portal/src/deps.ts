import type { Database } from '@orders/database';
import type { QueueStats } from '@orders/queue';
import type { Logger } from '@orders/runtime';
import type { Knex } from 'knex';
import type { PortalConfig } from './config.ts';
import type { FairLimiter } from './fair-limiter.ts';
import type { Auth } from './sign-in/create-auth.ts';

/** In whose turn runs what is asked of no account. */
export const OPERATORS = 0;

/** What the routes work with. */
export interface PortalDeps {
  config: PortalConfig;
  logger: Logger;
  knex: Knex;
  /** For the statements that intake and worker run too. */
  database: Database;
  auth: Auth;
  queues: QueueStats;
  /**
   * Runs what may read megabytes, by account: a few at a time, so that all together have a bound in memory, and each account in its turn.
   */
  runFairly: FairLimiter;
  /** The same for what reads and writes a few rows: a queue of its own, so that it does not wait for the former. */
  runShortFairly: FairLimiter;
}
