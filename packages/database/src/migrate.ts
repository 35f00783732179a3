import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { SQLSTATE, sqlstateOf } from './database-errors.ts';
import { type MigrationPlan, prepareRecord, readPlan, recordChecksum, SchemaDriftError } from './migration-record.ts';
import { MIGRATIONS, type Migration } from './migrations/index.ts';
import { createPartitions } from './partitions/create-partitions.ts';
import { MIGRATION_LOCK } from './run.ts';

// Writers of a table queue behind a migration that waits for its lock.
const LOCK_TIMEOUT = '2s';
// Lock timeout, or victim of a deadlock with a transaction that locks the same tables in another order.
const NO_LOCK: readonly string[] = [SQLSTATE.lockNotAvailable, SQLSTATE.deadlockDetected];
const RETRY_DELAY_MS = 2000;
const TIMEOUT_MS = 300_000;
const POLL_INTERVAL_MS = 200;

/** `runMigrations` with all migrations of this version. */
export async function migrate(knex: Knex, options: MigrateOptions = {}): Promise<string[]> {
  return runMigrations(knex, MIGRATIONS, options);
}

/** What `migrate` would run, and any drift that would stop it; changes nothing. */
export async function planMigrations(knex: Knex): Promise<MigrationPlan> {
  return readPlan(knex, MIGRATIONS);
}

interface MigrateOptions {
  /** Names of migrations that ran with different SQL and were verified by hand; their checksums are replaced. */
  acceptDrift?: readonly string[];
}

/**
 * Runs pending migrations and creates the partitions of the next weeks. A concurrent second call waits and then finds nothing to do. A
 * schema that is newer than `migrations` stays as it is, so that a release can be rolled back.
 *
 * @returns the names of the migrations that ran.
 * @throws {pg.DatabaseError} 55P03 or 40P01 when a lock was not available for five minutes; migrations that ran before stay.
 * @throws {SchemaDriftError} when a migration ran with different SQL than it has in `migrations`; then nothing was run.
 */
export async function runMigrations(
  knex: Knex,
  migrations: readonly Migration[],
  { acceptDrift = [] }: MigrateOptions = {},
): Promise<string[]> {
  return knex.transaction(async (guard) => {
    await acquireMigrationLock(guard);
    const { drift } = await readPlan(knex, migrations);
    const refused = drift.filter((name) => !acceptDrift.includes(name));
    if (refused.length > 0) throw new SchemaDriftError(refused);
    await prepareRecord(knex, migrations, acceptDrift);
    // knex's lock outlives a killed process, ours does not. We hold ours, so a stale lock of knex can be cleared.
    const tableName = 'schema_migrations';
    const config: Knex.MigratorConfig = {
      migrationSource: sourceOf(migrations),
      tableName,
      disableMigrationsListValidation: true,
    };
    if (await knex.schema.hasTable(`${tableName}_lock`)) await knex.migrate.forceFreeMigrationsLock(config);
    const ran: string[] = [];
    for (;;) {
      // One at a time, so that none holds the locks of earlier ones.
      const [, [name]] = await retryUntilLocked<[number, string[]]>(() => knex.migrate.up(config));
      if (!name) break;
      ran.push(name);
    }
    await retryUntilLocked(() => createPartitions(knex));
    return ran;
  });
}

// Timeouts that would end the lock's idle transaction during migrations; transaction_timeout exists since Postgres 17.
const DISABLE_TIMEOUTS = `select set_config(name, '0', true) from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`;

/**
 * Polls instead of waiting in Postgres: `create index concurrently` waits for all snapshots, also for that of a waiting lock statement,
 * which would be a deadlock. The statement has no parameters, as one with parameters keeps its snapshot until the end of the transaction.
 */
async function acquireMigrationLock(guard: Knex.Transaction): Promise<void> {
  await guard.raw(DISABLE_TIMEOUTS);
  for (;;) {
    const { rows } = await guard.raw(`select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as taken`);
    if (rows[0].taken) return;
    await sleep(POLL_INTERVAL_MS);
  }
}

function sourceOf(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: ({ name }) => name,
    getMigration: async (migration) => ({
      config: { transaction: typeof migration.up === 'string' },
      up: async (db) => {
        const { up } = migration;
        await (typeof up === 'string' ? runWithLockTimeout(db, up) : runEach(db, up));
        await recordChecksum(db, migration);
      },
      down: async () => {
        throw new Error('Migrations only go forward; restore a backup to go back.');
      },
    }),
  };
}

async function runWithLockTimeout(trx: Knex, sql: string): Promise<void> {
  await trx.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
  await trx.raw(sql);
}

/** Without a lock timeout: statements that run outside a transaction do not block writers while they wait. */
async function runEach(knex: Knex, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await knex.raw(statement);
}

/** Retries for up to five minutes while a lock is not available, with pauses that let waiting writers proceed. */
export async function retryUntilLocked<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!NO_LOCK.includes(sqlstateOf(error) ?? '') || Date.now() > deadline) throw error;
      await sleep(RETRY_DELAY_MS);
    }
  }
}
