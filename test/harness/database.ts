import { randomBytes } from 'node:crypto';
import { APP_ROLES, grantAppRoles } from '@orders/cli/grant-roles.ts';
import type { Database } from '@orders/database/connect.ts';
import { migrate } from '@orders/database/migrate.ts';
import { migrateQueue } from '@orders/queue/bullmq.ts';
import { dropDatabase } from '@orders/test-services/databases.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import type { Knex } from 'knex';
import pg from 'pg';
import { closeAtEnd } from './close-at-end.ts';

/** An app with its own role. */
export type RoleOf = 'intake' | 'worker' | 'portal' | 'notifier';

const PASSWORD = 'test-role';

/** Applies `deploy/postgres/roles.sql` to a database of a server that this run started, and gives the roles a password. */
export async function createAppRoles(knex: Knex): Promise<void> {
  await grantAppRoles(connectionOf(knex));
  // By Postgres itself, with the `scram_iterations` of the server.
  for (const role of APP_ROLES) await knex.raw(`alter role ${role} password '${PASSWORD}'`);
}

/** Otherwise ids go on in the next range when a month begins during a test. */
export async function keepOrderRange(knex: Knex): Promise<void> {
  await knex.raw("update order_ranges set began_at = now() + interval '1 day'");
}

/** The database URL with the role of an app. */
function asRole(url: string, app: RoleOf): string {
  return Object.assign(new URL(url), { username: `orders_${app}`, password: PASSWORD }).href;
}

/** The roles' lines in PgBouncer's user list. */
export const POOLER_USERS = APP_ROLES.map((role) => `"${role}" "${PASSWORD}"\n`).join('');

/** A migrated database for one test file, which is dropped after it. */
export interface TestDatabase {
  /** Through the pooler, if the run has one. */
  url: string;
  /** Without the pooler: for the queue on Postgres, which uses LISTEN, and for session settings. */
  directUrl: string;
  /** `url` with the role of an app, if the apps have their own roles in this run. */
  urlOf?(app: RoleOf): string;
  knex: Knex;
  /** A pool for the functions of the product. */
  db: Database;
  close(): Promise<void>;
}

/** Whether prepared statements can be used; not through the pooler. */
export const PREPARED = process.env.TEST_POOLER_PORT === undefined;

/** The URL of a database through the pooler, if the run has one. */
function throughPooler(directUrl: string): string {
  const url = new URL(directUrl);
  if (process.env.TEST_POOLER_PORT) url.host = `127.0.0.1:${process.env.TEST_POOLER_PORT}`;
  return url.href;
}

/** @param installation the number of a database that is made anew, not copied. */
export async function createTestDatabase({ installation }: { installation?: number } = {}): Promise<TestDatabase> {
  const template = new URL(process.env.TEST_DATABASE_URL as string);
  const name = `test_${randomBytes(6).toString('hex')}`;
  const maintenance = new URL(template);
  maintenance.pathname = '/postgres';
  const client = new pg.Client({ connectionString: maintenance.href });
  await client.connect();
  // Postgres cannot copy a template while another session copies it.
  await client.query('select pg_advisory_lock(1)');
  // Copying the files takes half as long as copying by the write-ahead log.
  const copied = installation === undefined ? `template "${template.pathname.slice(1)}" strategy file_copy` : '';
  await client.query(`create database ${name} ${copied}`);
  await client.end();
  const direct = new URL(template);
  direct.pathname = `/${name}`;
  const url = throughPooler(direct.href);
  const knex = openKnex({ url, applicationName: 'orders test' });
  if (installation !== undefined) {
    await migrate(connectionOf(knex), { installation });
    await keepOrderRange(knex);
    await migrateQueue(direct.href);
    if (process.env.TEST_ROLES === 'on') await grantAppRoles(connectionOf(knex));
  }
  return closeAtEnd({
    url,
    directUrl: direct.href,
    ...(process.env.TEST_ROLES === 'on' && { urlOf: (app: RoleOf) => asRole(url, app) }),
    knex,
    db: connectionOf(knex),
    async close() {
      await knex.destroy();
      await dropDatabase(direct.href);
    },
  });
}
