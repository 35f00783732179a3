import { createHash } from 'node:crypto';
import type { Migration } from './migrations/index.ts';
import { hasTable } from './partitions/list-partitions.ts';
import { type Connection, execute, run } from './run.ts';

/** The checksum is null for a migration that was recorded by hand. */
const CREATE = `
create table if not exists schema_migrations (name text primary key, checksum text, ran_at timestamptz not null default now())`;

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

/** @returns checksums of the migrations that ran, by name and in order. */
async function readRecord(connection: Connection): Promise<Map<string, string | null>> {
  if (!(await hasTable(connection, 'schema_migrations'))) return new Map();
  const rows = await run<{ name: string; checksum: string | null }>(
    connection,
    'select name, checksum from schema_migrations order by name',
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

/** Creates the table of migrations that ran. */
export async function prepareRecord(connection: Connection): Promise<void> {
  await execute(connection, CREATE);
}

/** Stores that a migration ran, with its checksum; called in its transaction if it has one. */
export async function recordMigration(connection: Connection, migration: Migration): Promise<void> {
  await execute(
    connection,
    `insert into schema_migrations (name, checksum) values ($1, $2)
     on conflict (name) do update set checksum = excluded.checksum`,
    [migration.name, checksumOf(migration)],
  );
}
