import type { Database } from '@orders/database';
import type { QueueWatch } from '@orders/queue';
import type { Logger } from '@orders/runtime';
import type { Knex } from 'knex';
import type { PortalConfig } from './config.ts';
import type { Auth } from './sign-in/create-auth.ts';

/** What the routes work with. */
export interface PortalDeps {
  config: PortalConfig;
  logger: Logger;
  knex: Knex;
  /** For the statements that intake and worker run too. */
  database: Database;
  auth: Auth;
  queues: QueueWatch;
}
