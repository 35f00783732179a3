import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { sqlstateOf } from './database-errors.ts';
import { completeRecord, type MigrationPlan, readPlan, recordChecksum, SchemaDriftError } from './migration-record.ts';
import { MIGRATIONS, type Migration } from './migrations/index.ts';
import { makePartitions } from './receipts/make-partitions.ts';

// Any number will do that nothing else in this database locks.
const MIGRATION_LOCK = 7_310_441;

// Whoever writes to a table waits behind a migration that waits for its lock.
const LOCK_TIMEOUT = '2s';
// Not to be had in time, or the one to end of a deadlock with who locks the same tables in another order.
const NO_LOCK = ['55P03', '40P01'];
const RETRY_DELAY_MS = 2000;
const TIMEOUT_MS = 300_000;
const POLL_INTERVAL_MS = 200;

/** `runMigrations` with all there are. */
export async function migrate(knex: Knex, options: MigrateOptions = {}): Promise<string[]> {
  return runMigrations(knex, MIGRATIONS, options);
}

/** What `migrate` would run, and what stands in its way; changes nothing. */
export async function planMigrations(knex: Knex): Promise<MigrationPlan> {
  return readPlan(knex, MIGRATIONS);
}

interface MigrateOptions {
  /** Names of migrations that ran with different SQL and whose effect was compared: their checksums are replaced. */
  acceptDrift?: readonly string[];
}

/**
 * Brings the schema up to date and makes the partitions of the weeks ahead. Two at once: the second waits, then finds nothing to do. A
 * schema that is newer than `migrations` is left as it is, so that a version can be taken back.
 *
 * @returns the names of the migrations that ran.
 * @throws {pg.DatabaseError} 55P03 or 40P01 when a lock was not to be had for five minutes; what ran before stays.
 * @throws {SchemaDriftError} when a migration ran with different SQL than it has in `migrations`; nothing has run then.
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
    await completeRecord(knex, migrations, acceptDrift);
    // knex's own lock outlives a killed process; ours does not, and it is held, so a leftover of knex's can be cleared.
    const tableName = 'schema_migrations';
    const config: Knex.MigratorConfig = {
      migrationSource: sourceOf(migrations),
      tableName,
      disableMigrationsListValidation: true,
    };
    if (await knex.schema.hasTable(`${tableName}_lock`)) await knex.migrate.forceFreeMigrationsLock(config);
    const ran: string[] = [];
    for (;;) {
      // One by one, so that none holds the locks of those before it.
      const [, [name]] = await untilGranted<[number, string[]]>(() => knex.migrate.up(config));
      if (!name) break;
      ran.push(name);
    }
    await untilGranted(() => makePartitions(knex));
    return ran;
  });
}

// What would end a transaction that is idle while its process migrates; the second is there from Postgres 17 on.
const STAY = `select set_config(name, '0', true) from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`;

/**
 * Asks again and again: `create index concurrently` waits for every snapshot there is, so for a statement of another that would wait here,
 * and that for it. A statement with parameters keeps its snapshot in a transaction even when it is done.
 */
async function acquireMigrationLock(guard: Knex.Transaction): Promise<void> {
  await guard.raw(STAY);
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
        await (typeof up === 'string' ? runBriefly(db, up) : runEach(db, up));
        await recordChecksum(db, migration);
      },
      down: async () => {
        throw new Error('Migrations only go forward; restore a backup to go back.');
      },
    }),
  };
}

async function runBriefly(trx: Knex, sql: string): Promise<void> {
  await trx.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
  await trx.raw(sql);
}

/** Without a limit: what runs outside a transaction is of the kind that waits without holding up who writes. */
async function runEach(knex: Knex, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await knex.raw(statement);
}

/** Tries again, after letting those pass who wait behind it, for as long as a lock is not to be had. */
export async function untilGranted<T>(work: () => Promise<T>): Promise<T> {
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
