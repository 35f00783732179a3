import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PartitionWidth } from '@orders/runtime/config/settings.ts';
import knex, { type Knex } from 'knex';
import type { Database } from './connect.ts';
import { SQLSTATE, sqlstateOf } from './database-errors.ts';
import { MIGRATIONS, type Migration } from './migrations/index.ts';
import { createPartitions } from './partitions/create-partitions.ts';
import { hasTable } from './partitions/list-partitions.ts';
import { type Connection, execute, inTransaction, MIGRATION_LOCK, run } from './run.ts';

// Writers of a table queue behind a migration that waits for its lock.
const LOCK_TIMEOUT_MS = 2000;
// Lock timeout, or victim of a deadlock with a transaction that locks the same tables in another order.
const NO_LOCK: readonly string[] = [SQLSTATE.lockNotAvailable, SQLSTATE.deadlockDetected];
const RETRY_DELAY_MS = 2000;
const TIMEOUT_MS = 300_000;
const POLL_INTERVAL_MS = 200;

/** `runMigrations` with all migrations of this version. */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<string[]> {
  return runMigrations(database, MIGRATIONS, options);
}

/** What `migrate` would run, and any drift that would stop it; changes nothing. */
export async function planMigrations(connection: Connection): Promise<MigrationPlan> {
  return readPlan(connection, MIGRATIONS);
}

interface MigrateOptions {
  /** Names of migrations that ran with different SQL and were verified by hand; their checksums are replaced. */
  acceptDrift?: readonly string[];
  /** The number of the installation, 0 to 8,999; it counts for an empty database alone. */
  installation?: number | undefined;
  /** Of the partitions that it creates. */
  partitionWidth?: PartitionWidth;
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
  database: Database,
  migrations: readonly Migration[],
  { acceptDrift = [], installation = 0, partitionWidth = 'week' }: MigrateOptions = {},
): Promise<string[]> {
  return inTransaction(database, async (guard) => {
    await acquireMigrationLock(guard);
    const { drift } = await readPlan(database, migrations);
    const rejected = drift.filter((name) => !acceptDrift.includes(name));
    if (rejected.length > 0) throw new SchemaDriftError(rejected);
    const pooled = knex({ client: 'pg', connectionPool: database.pool, log: SILENT });
    await prepareChecksums(pooled);
    for (const migration of migrations) if (drift.includes(migration.name)) await recordChecksum(pooled, migration);
    const config = {
      tableName: RAN,
      migrationSource: sourceOf(migrations, installation),
      disableMigrationsListValidation: true,
    };
    // knex's lock outlives a killed process, ours does not. We hold ours, so a stale one of knex can be cleared.
    await pooled.migrate.forceFreeMigrationsLock(config);
    const ran: string[] = [];
    for (;;) {
      // One at a time, so that none holds the locks of earlier ones.
      const [, [name]] = await retryUntilLocked<[number, string[]]>(() => pooled.migrate.up(config));
      if (!name) break;
      ran.push(name);
    }
    await retryUntilLocked(() => createPartitions(database, Date.now(), { width: partitionWidth }));
    return ran;
  });
}

/** knex would write to the console what it also throws. */
const SILENT: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} };

function sourceOf(migrations: readonly Migration[], installation: number): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: ({ name }) => name,
    getMigration: async (migration) => ({
      config: { transaction: typeof migration.up === 'string' },
      up: async (connection) => {
        await runMigration(connection, migration, installation);
        await recordChecksum(connection, migration);
      },
      down: async () => {
        throw new Error('Migrations only go forward; restore a backup to go back.');
      },
    }),
  };
}

async function runMigration(connection: Knex, { up }: Migration, installation: number): Promise<void> {
  if (typeof up === 'string') {
    await connection.raw("select set_config('orders.installation', ?, true)", [String(installation)]);
    await connection.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await connection.raw(withoutBindings(up));
    return;
  }
  // Without a lock timeout: statements that run outside a transaction do not block writers while they wait.
  for (const statement of up) await connection.raw(withoutBindings(statement));
}

/** knex would replace question marks, as in JSON paths, by parameters. */
export function withoutBindings(sql: string): string {
  return sql.replaceAll('?', '\\?');
}

// Timeouts that would end the lock's idle transaction during migrations; transaction_timeout exists since Postgres 17.
const DISABLE_TIMEOUTS = `select set_config(name, '0', true) from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`;

/**
 * Polls instead of waiting in Postgres: `create index concurrently` waits for all snapshots, also for that of a waiting lock statement,
 * which would be a deadlock. The statement has no parameters, as one with parameters keeps its snapshot until the end of the transaction.
 */
async function acquireMigrationLock(guard: Connection): Promise<void> {
  await execute(guard, DISABLE_TIMEOUTS);
  for (;;) {
    const [lock] = await run<{ taken: boolean }>(guard, `select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as taken`);
    if (lock?.taken) return;
    await sleep(POLL_INTERVAL_MS);
  }
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

/** knex's table of the migrations that ran. */
const RAN = 'schema_migrations';

// A table of its own, as knex owns the other one.
const CHECKSUMS = 'schema_migrations_checksums';

/** Compares the migrations of this version with those that ran in a database. */
export interface MigrationPlan {
  /** Migrations that `migrate` would run, in order. */
  pending: { name: string; transaction: boolean }[];
  /** Migrations that ran with different SQL than in this version. */
  drift: string[];
  /** Migrations that ran and that this version does not know, as after a rollback to it. */
  unknown: string[];
}

/** A migration ran with different SQL than in this version, so the schema is unknown. */
export class SchemaDriftError extends Error {
  readonly migrations: readonly string[];

  constructor(migrations: readonly string[]) {
    super(`migrations ran with different SQL: ${migrations.join(', ')}`);
    this.migrations = migrations;
  }
}

/** @returns the SHA-256 of a migration's `up`, in hex. It hashes JSON, so that a list never equals a string or another list. */
export function checksumOf({ up }: Pick<Migration, 'up'>): string {
  return createHash('sha256').update(JSON.stringify(up)).digest('hex');
}

/** Changes nothing; in an empty database all migrations are pending. */
export async function readPlan(connection: Connection, migrations: readonly Migration[]): Promise<MigrationPlan> {
  const record = await readRecord(connection);
  const known = new Set(migrations.map(({ name }) => name));
  return {
    pending: migrations
      .filter(({ name }) => !record.has(name))
      .map(({ name, up }) => ({ name, transaction: typeof up === 'string' })),
    drift: migrations.filter((migration) => hasDrifted(record.get(migration.name), migration)).map(({ name }) => name),
    unknown: [...record.keys()].filter((name) => !known.has(name)),
  };
}

function hasDrifted(checksum: string | null | undefined, migration: Migration): boolean {
  return typeof checksum === 'string' && checksum !== checksumOf(migration);
}

/** @returns checksums of the migrations that ran, by name and in order; null for one that was recorded by hand. */
async function readRecord(connection: Connection): Promise<Map<string, string | null>> {
  if (!(await hasTable(connection, RAN))) return new Map();
  const rows = await run<{ name: string; checksum: string | null }>(
    connection,
    `select name, checksum from ${RAN} left join ${CHECKSUMS} using (name) order by id`,
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

/** Creates the table of checksums. */
async function prepareChecksums(knex: Knex): Promise<void> {
  await knex.raw(`create table if not exists ${CHECKSUMS} (name text primary key, checksum text not null)`);
}

/** Stores the checksum of a migration; called in its transaction if it has one. */
async function recordChecksum(knex: Knex, migration: Migration): Promise<void> {
  await knex(CHECKSUMS)
    .insert({ name: migration.name, checksum: checksumOf(migration) })
    .onConflict('name')
    .merge();
}
