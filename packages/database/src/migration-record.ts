import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Migration } from './migrations/index.ts';
import { hasTable } from './partitions/list-partitions.ts';
import { type Connection, run } from './run.ts';

/** knex's table of the migrations that ran. */
export const RAN = 'schema_migrations';

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
export async function prepareChecksums(knex: Knex): Promise<void> {
  await knex.raw(`create table if not exists ${CHECKSUMS} (name text primary key, checksum text not null)`);
}

/** Stores the checksum of a migration; called in its transaction if it has one. */
export async function recordChecksum(knex: Knex, migration: Migration): Promise<void> {
  await knex(CHECKSUMS)
    .insert({ name: migration.name, checksum: checksumOf(migration) })
    .onConflict('name')
    .merge();
}
