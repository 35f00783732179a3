import type { Knex } from 'knex';
import * as initial from './migrations/001-initial.ts';
import * as payloadsByBatch from './migrations/002-payloads-by-batch.ts';
import * as accountRateLimits from './migrations/003-account-rate-limits.ts';
import * as usersAndAudit from './migrations/004-users-and-audit.ts';
import * as reviewList from './migrations/005-review-list.ts';
import * as rejectedDeliveries from './migrations/006-rejected-deliveries.ts';
import * as activity from './migrations/007-activity.ts';
import * as erasure from './migrations/008-erasure.ts';
import { makePartitions } from './receipts/partitions.ts';

interface Migration {
  name: string;
  up: string;
}

/** Every migration, in order. Append only: one that has run anywhere is never edited. */
const MIGRATIONS: Migration[] = [
  initial,
  payloadsByBatch,
  accountRateLimits,
  usersAndAudit,
  reviewList,
  rejectedDeliveries,
  activity,
  erasure,
];

// Any number will do that nothing else in this database locks.
const MIGRATION_LOCK = 7_310_441;

const migrationSource: Knex.MigrationSource<Migration> = {
  getMigrations: async () => MIGRATIONS,
  getMigrationName: (migration) => migration.name,
  getMigration: async (migration) => ({
    up: (trx) => trx.raw(migration.up),
    down: async () => {
      throw new Error('Migrations only go forward; restore a backup to go back.');
    },
  }),
};

/**
 * Brings the schema up to date and makes the partitions of the weeks ahead. Two at once: the second waits, then finds nothing to do.
 *
 * @returns the names of the migrations that ran.
 */
export async function migrate(knex: Knex): Promise<string[]> {
  return knex.transaction(async (guard) => {
    await guard.raw('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    // knex's own lock outlives a killed process; ours does not, and it is held, so a leftover of knex's can be cleared.
    const tableName = 'schema_migrations';
    const config: Knex.MigratorConfig = { migrationSource, tableName };
    if (await knex.schema.hasTable(`${tableName}_lock`)) await knex.migrate.forceFreeMigrationsLock(config);
    const [, ran] = (await knex.migrate.latest(config)) as [number, string[]];
    await makePartitions(knex);
    return ran;
  });
}
