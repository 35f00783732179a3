import { randomBytes } from 'node:crypto';
import { openKnex } from '@orders/database';
import { dropDatabase } from '@orders/local-services';
import type { Knex } from 'knex';
import pg from 'pg';

/** A migrated database of a test file's own. */
export interface TestDatabase {
  url: string;
  knex: Knex;
  close(): Promise<void>;
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
  const url = new URL(template);
  url.pathname = `/${name}`;
  const knex = openKnex({ url: url.href, applicationName: 'orders test' });
  return {
    url: url.href,
    knex,
    async close() {
      await knex.destroy();
      await dropDatabase(url.href);
    },
  };
}
