import { randomBytes } from 'node:crypto';
import { openKnex } from '@orders/database';
import { dropDatabase } from '@orders/test-services';
import type { Knex } from 'knex';
import pg from 'pg';
import { asRole, type RoleOf } from './roles.ts';

/** A migrated database of a test file's own. */
export interface TestDatabase {
  /** Through the pooler, where the run has one. */
  url: string;
  /** Past it: for the queue on Postgres, which listens, and for what asks for settings of its session. */
  directUrl: string;
  /** Where the apps have roles of their own, `url` under that of one. */
  urlOf?(app: RoleOf): string;
  knex: Knex;
  close(): Promise<void>;
}

/** Whether statements can be named; not through the pooler. */
export const PREPARED = process.env.TEST_POOLER_PORT === undefined;

/** The address of a database through the pooler of this run, if there is one. */
function throughPooler(directUrl: string): string {
  const url = new URL(directUrl);
  if (process.env.TEST_POOLER_PORT) url.host = `127.0.0.1:${process.env.TEST_POOLER_PORT}`;
  return url.href;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const template = new URL(process.env.TEST_DATABASE_URL as string);
  const name = `test_${randomBytes(6).toString('hex')}`;
  const maintenance = new URL(template);
  maintenance.pathname = '/postgres';
  const client = new pg.Client({ connectionString: maintenance.href });
  await client.connect();
  // Two files that copy the template at once would be in each other's way.
  await client.query('select pg_advisory_lock(1)');
  await client.query(`create database ${name} template "${template.pathname.slice(1)}"`);
  await client.end();
  const direct = new URL(template);
  direct.pathname = `/${name}`;
  const url = throughPooler(direct.href);
  const knex = openKnex({ url, applicationName: 'orders test' });
  return {
    url,
    directUrl: direct.href,
    ...(process.env.TEST_ROLES === 'on' && { urlOf: (app: RoleOf) => asRole(url, app) }),
    knex,
    async close() {
      await knex.destroy();
      await dropDatabase(direct.href);
    },
  };
}
